// The table of models: only the rows stay that have all the words of the field above it.
document.addEventListener("input", (event) => {
  const field = event.target;
  if (!field.matches("input.filter")) return;
  const words = field.value.toLowerCase().split(/[^a-z0-9.]+/).filter(Boolean);
  for (const row of document.querySelectorAll("article table tbody tr")) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
});
