"use strict";
// What the pages have in common. Text goes in by textContent only: whatever a model wrote stays text.
const at = (id) => document.getElementById(id);
const make = (tag, text, kind) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const listOf = (value) => Array.isArray(value) ? value : [];

// So much of a text, and so many lines of a list, are drawn at once.
const MOST_DRAWN = 20000, MOST_LINES = 300, MOST_IN_PART = 20000;

// The text after a step: each run in its colour if it was known by then, as held if not, the rest faint.
// Runs are start, kind and step, in a row. Returns which part of the text was drawn.
function drawText(box, text, trace, step) {
  const { runs, kinds, steps } = trace, fed = steps[step].to;
  const from = text.length <= MOST_DRAWN ? 0 : Math.max(0, Math.min(fed - MOST_DRAWN / 2, text.length - MOST_DRAWN));
  const to = Math.min(text.length, from + MOST_DRAWN);
  const pieces = [];
  const add = (start, end, kind) => {
    start = Math.max(start, from); end = Math.min(end, to);
    if (start >= end) return;
    const last = pieces[pieces.length - 1];
    if (last && last.kind === kind && last.end === start) last.end = end;
    else pieces.push({ start, end, kind });
  };
  let low = 0, high = runs.length / 3;
  while (low < high) { // the first run that reaches into what is drawn
    const middle = (low + high) >> 1;
    if ((middle + 1 < runs.length / 3 ? runs[3 * middle + 3] : text.length) <= from) low = middle + 1; else high = middle;
  }
  for (let i = 3 * low; i < runs.length && runs[i] < to; i += 3) {
    const end = i + 3 < runs.length ? runs[i + 3] : text.length;
    if (runs[i + 2] <= step) add(runs[i], end, kinds[runs[i + 1]]);
    else {
      add(runs[i], Math.min(end, fed), "held");
      add(Math.max(runs[i], fed), end, "future");
    }
  }
  box.replaceChildren(...pieces.map((p) => make("span", text.slice(p.start, p.end), p.kind)));
  const held = box.querySelector(".held") ?? box.querySelector(".future");
  if (held && step < steps.length - 1) box.scrollTop = Math.max(0, held.offsetTop - box.offsetTop - box.clientHeight / 2);
  return [from, to];
}

// What is read but not out after a step: its text and the reason.
function heldAfter(text, trace, step) {
  const { runs, steps, why } = trace, now = steps[step];
  if (now.held < now.to) return { text: text.slice(now.held, now.to), why: why[now.why] ?? "" };
  let end = text.length;
  for (let i = runs.length - 3; i >= 0 && end > now.to - 2000; end = runs[i], i -= 3) {
    if (runs[i] < now.to && runs[i + 2] > step) {
      const held = text.slice(runs[i], Math.min(end, now.to));
      return { text: held, why: held.trim() ? why.value : why.space };
    }
  }
  return null;
}

// The deltas of a Chat Completions stream, put together as a client does.
function putTogether(deltas) {
  const thoughts = [], content = [], calls = new Map();
  for (const delta of deltas) {
    thoughts.push(delta.reasoning_content || delta.reasoning || "");
    content.push(delta.content || "");
    for (const piece of listOf(delta.tool_calls)) {
      const call = calls.get(piece.index ?? 0) ?? { name: "", pieces: [] };
      call.name = piece.function?.name || call.name;
      call.pieces.push(piece.function?.arguments || "");
      calls.set(piece.index ?? 0, call);
    }
  }
  return { reasoning: thoughts.join(""), content: content.join(""),
    calls: [...calls.values()].map((call) => ({ name: call.name, arguments: call.pieces.join("") })) };
}

// A message as the client has it: thoughts, text, and each call.
function drawMessage(box, message) {
  const parts = [];
  if (message.reasoning) parts.push(part("reasoning", "Reasoning", message.reasoning));
  if (message.content) parts.push(part("content", "Content", message.content));
  for (const call of message.calls) {
    const made = part(call.problem ? "bad" : "call", "Call", call.arguments);
    made.querySelector("h3").append(make("b", call.name));
    if (call.problem) made.append(make("small", call.problem, "bad"));
    parts.push(made);
  }
  box.replaceChildren(...(parts.length ? parts : [make("p", "Nothing yet.", "faint")]));
}

function part(kind, title, text) {
  const made = make("div", undefined, `part is-${kind}`), shown = make("pre", cut(text));
  made.append(make("h3", title), shown);
  return made;
}

const cut = (text) => text.length <= MOST_IN_PART ? text
  : `${text.slice(0, MOST_IN_PART / 2)}\n… ${(text.length - MOST_IN_PART).toLocaleString("en")} characters are not drawn …\n${text.slice(-MOST_IN_PART / 2)}`;

function legend(box, kinds) {
  box.replaceChildren(...kinds.map((kind) => make("i", kind, kind)));
}

// Times between chunks, in milliseconds, as bars; long waits stand out.
function graph(times) {
  const waits = times.map((time, i) => i ? time - times[i - 1] : time), space = "http://www.w3.org/2000/svg";
  const most = Math.max(1, ...waits), usual = [...waits].sort((a, b) => a - b)[waits.length >> 1] || 1;
  const svg = document.createElementNS(space, "svg"), width = 600 / waits.length;
  svg.setAttribute("viewBox", "0 0 600 48");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "graph");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${waits.length} chunks; the longest wait was ${Math.round(most)} ms`);
  waits.forEach((wait, i) => {
    const bar = document.createElementNS(space, "rect"), height = Math.max(1, 46 * wait / most);
    const all = { x: i * width, y: 48 - height, width: Math.max(.5, width * .8), height };
    for (const [key, value] of Object.entries(all)) bar.setAttribute(key, value.toFixed(2));
    if (wait > 5 * usual && wait > most / 3) bar.setAttribute("class", "slow");
    svg.append(bar);
  });
  return svg;
}

async function copyText(button, text, said) {
  await navigator.clipboard.writeText(text);
  const before = button.dataset.label ?? button.textContent;
  button.dataset.label = before;
  button.textContent = said;
  setTimeout(() => { button.textContent = before; }, 2500);
}
