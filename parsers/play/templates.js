// -- templates -------------------------------------------------------------------------------------

async function render() {
  const told = at("render-state"), cards = document.querySelectorAll("#page-templates .shown");
  told.textContent = "Rendering…";
  told.className = "faint";
  try {
    const answer = await ask("prompt", { template: state.template, conversation: state.conversation });
    drawPrompt(answer.parts);
    at("next").replaceChildren(...answer.next.map(nextTurn));
    drawDetect(answer.detect);
    at("probes").replaceChildren(...answer.probes.map(probe));
    told.textContent = "";
  } catch (error) {
    told.textContent = error.message;
    told.className = "bad";
    for (const id of ["prompt", "next", "detect", "probes"]) at(id).replaceChildren();
  }
  cards.forEach((card) => { card.hidden = told.textContent !== ""; });
  document.body.dataset.rendered = state.template;
  document.body.dataset.renders = String(++rendered);
  remember();
}

function drawPrompt(parts) {
  let left = MOST_DRAWN, length = 0;
  const made = [];
  for (const [text, kind] of parts) {
    length += text.length;
    if (left > 0) made.push(makeText("span", text.slice(0, left), kind));
    left -= text.length;
  }
  at("prompt").replaceChildren(...made);
  at("prompt-cut").textContent = length > MOST_DRAWN ? `The first ${MOST_DRAWN.toLocaleString("en")} of ${length.toLocaleString("en")} characters are drawn.` : "";
}

function nextTurn(one) {
  const made = make("div", undefined, `part is-${one.kept ? "content" : "bad"}`), head = make("h3", `When ${one.after}`);
  const said = one.kept ? "The prompt is kept: an engine reads only what is new."
    : one.kept === false ? `The prompt changes after ${one.same.toLocaleString("en")} characters: an engine reads the rest again.` : "The template refuses this.";
  made.append(head, make("p", said, one.kept ? "good" : "bad"));
  if (one.why) made.append(make("small", one.why));
  return made;
}

function drawDetect(told) {
  const list = make("ul");
  list.append(...told.why.map((why) => make("li", why)));
  const rows = [["Parser", told.format ? `toolwire_${told.format}` : "none"], ["Reasoning", told.reasoning ?? "none shown"], ["Turns", told.frame ? `as ${told.frame} marks them` : "marked in a way of its own"]];
  const table = make("table");
  table.append(...rows.map(([key, value]) => { const row = make("tr"); row.append(make("th", key), make("td", value)); return row; }));
  at("detect").replaceChildren(table, list);
}

function probe(one) {
  const made = make("div", undefined, "probe");
  made.append(make("small", one.calls.map(([name, values]) => `${name} ${JSON.stringify(values)}`).join("; ")), makeText("pre", one.text, "text"),
    make("small", one.formats.length ? `Read back by ${one.formats.join(", ")}.` : "No format reads this back whole.", one.formats.length ? "good" : "bad"));
  const leaves = Object.entries(one.leaves);
  if (leaves.length) made.append(make("small", `With something left over: ${leaves.map(([name, left]) => `${name} (${left})`).join(", ")}.`));
  return made;
}

