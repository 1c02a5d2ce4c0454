// -- the address -----------------------------------------------------------------------------------

const KEPT = ["tab", "text", "format", "reasoning", "inside", "tools", "ends", "step", "lines", "others", "template", "conversation"];

async function squeeze(bytes, kind) {
  const stream = new Blob([bytes]).stream().pipeThrough(kind);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function address() {
  const last = trace ? trace.steps.length - 1 : -1;
  const kept = Object.fromEntries(KEPT.map((key) => [key, state[key]]));
  if (kept.step === last) kept.step = -1;
  const bytes = await squeeze(new TextEncoder().encode(JSON.stringify(kept)), new CompressionStream("deflate-raw"));
  if (bytes.length > LONGEST_LINK) return null;
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `#${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

function remember() {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    const hash = await address();
    history.replaceState(null, "", hash ?? location.pathname);
    document.body.dataset.address = hash ? "kept" : "long";
  }, view.playing ? 1000 : 200);
}

async function recall() {
  const hash = location.hash.slice(1);
  if (!hash) return false;
  try {
    const bytes = Uint8Array.from(atob(hash.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const found = JSON.parse(new TextDecoder().decode(await squeeze(bytes, new DecompressionStream("deflate-raw"))));
    for (const key of KEPT) if (key in found && (found[key] === null || state[key] === null || typeof found[key] === typeof state[key])) state[key] = found[key];
    return true;
  } catch {
    at("notice").textContent = "The address does not say anything that can be shown: here is an example.";
    return false;
  }
}

