"use strict";
// What the pages have in common. Text goes in by textContent only: whatever a model wrote stays text.
const at = (id) => document.getElementById(id);
const make = (tag, text, kind) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
// Characters that are not seen, or that turn the text around them, are shown by their numbers; the text
// itself stays what it is. (Not U+200C and U+200D: scripts and emoji need them.)
const SIGNS = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff])\1*/g;
const MOST_SIGNS = 500;
function makeText(tag, text, kind) {
  const box = make(tag, undefined, kind);
  let end = 0, left = MOST_SIGNS;
  for (const found of text.matchAll(SIGNS)) {
    if (!left--) break;
    const [signs, sign] = found, code = sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    const shown = make("bdi", signs, "sign");
    shown.dataset.code = `U+${code}${signs.length > 1 ? ` × ${signs.length}` : ""}`;
    box.append(text.slice(end, found.index), shown);
    end = found.index + signs.length;
  }
  box.append(text.slice(end));
  return box;
}
const listOf = (value) => Array.isArray(value) ? value : [];

// So much of a text, and so many lines of a list and calls of a message, are drawn at once.
const MOST_DRAWN = 20000, MOST_LINES = 300, MOST_CALLS = 100, MOST_IN_PART = 20000;

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
  box.replaceChildren(...pieces.map((p) => {
    const made = makeText("span", text.slice(p.start, p.end), p.kind);
    made.title = p.kind; // for those who can't tell the colours apart
    return made;
  }));
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

// -- a text, played ----------------------------------------------------------------------------------

const KINDS = ["reasoning", "content", "name", "arguments", "markup", "held"];
const MEANING = { reasoning: "Thoughts: the client gets them apart from the text", content: "Text: the client gets it as content",
  name: "A call's name", arguments: "A call's arguments", markup: "What marks calls and thoughts: the client does not get it",
  held: "Read, but not passed on yet: it is not decided what it is", tools: "What a prompt without tools does not have",
  call: "A turn of the model with a call", result: "A tool's result", assistant: "A turn of the model", user: "A turn of the user" };

// Fills a card with a text that is played step by step: its colours, and what is held and why. `moved` is
// told of each step.
function player(card, moved = () => {}) {
  const parts = playerParts(card);
  let text = "", trace = null, step = 0, timer = 0;
  const last = () => trace.steps.length - 1;

  function draw() {
    const atEnd = step === last(), place = !trace.length ? "" : atEnd ? "the end" : `${trace.steps[step].to} of ${trace.length}`;
    parts.slider.value = step;
    parts.place.textContent = place;
    parts.slider.setAttribute("aria-valuetext", place);
    parts.back.disabled = step === 0;
    parts.on.disabled = atEnd;
    parts.play.disabled = last() === 0; // there is nothing to play
    const [from, to] = drawText(parts.shown, text, trace, step);
    parts.drawn.textContent = to - from < text.length
      ? `Characters ${from.toLocaleString("en")} to ${to.toLocaleString("en")} of ${text.length.toLocaleString("en")} are drawn: the slider moves through the rest.` : "";
    const held = atEnd ? null : heldAfter(text, trace, step);
    parts.held.hidden = !held;
    parts.heldText.replaceChildren(...makeText("span", held ? cut(held.text) : "").childNodes);
    parts.heldWhy.textContent = held ? held.why : "";
    moved(step);
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    parts.play.textContent = "▶ Play";
  }
  function go(to) {
    if (!trace) return;
    step = Math.max(0, Math.min(last(), to));
    draw();
  }
  function toggle() {
    if (timer) return stop();
    if (!trace) return;
    parts.play.textContent = "❚❚ Pause";
    go(step >= last() ? 0 : step);
    timer = setInterval(() => step >= last() ? stop() : go(step + 1), Math.max(30, Math.min(160, 6000 / trace.steps.length)));
  }
  const move = (by) => { stop(); go(step + by); };
  parts.play.addEventListener("click", toggle);
  parts.back.addEventListener("click", () => move(-1));
  parts.on.addEventListener("click", () => move(1));
  parts.slider.addEventListener("input", () => { stop(); go(Number(parts.slider.value)); });
  return {
    stop, toggle, move,
    get playing() { return timer !== 0; },
    get ready() { return trace !== null; },
    show(newText, newTrace, at) { // `at`: the step to begin with; the end where there is none such
      stop();
      [text, trace] = [newText, newTrace];
      parts.slider.max = last();
      go(at < 0 || at > last() ? last() : at);
    },
  };
}

function playerParts(card) {
  const head = make("div", undefined, "row"), row = make("div", undefined, "player");
  const key = make("span", undefined, "legend"), held = made("div", "held", "part is-held"), slider = made("input", "slider");
  const parts = { held, slider, play: made("button", "play", "main", "▶ Play"), back: made("button", "back", "", "‹"),
    on: made("button", "on", "", "›"), place: made("output", "place"), shown: made("pre", "shown", "text"),
    drawn: made("small", "drawn"), heldText: made("pre", "held-text"), heldWhy: made("small", "held-why") };
  legend(key, KINDS);
  slider.type = "range";
  slider.min = slider.value = 0;
  held.hidden = true;
  parts.shown.tabIndex = 0;
  parts.play.title = "Space plays, the arrow keys go step by step";
  const names = { play: "Play step by step", back: "One step back", on: "One step on", slider: "How much of the text has come", shown: "The text, coloured" };
  for (const [name, said] of Object.entries(names)) parts[name].setAttribute("aria-label", said);
  head.append(make("h2", "What each character is"), key);
  row.append(parts.play, parts.back, slider, parts.on, parts.place);
  held.append(make("h3", "Held back"), parts.heldText, parts.heldWhy);
  card.append(head, row, parts.shown, parts.drawn, held);
  return parts;
}

const made = (tag, id, kind, text) => {
  const one = make(tag, text, kind);
  one.id = id;
  return one;
};

// Space plays, and arrows step, wherever they mean nothing else. `view` gives the player, if one is shown.
function playByKeys(view) {
  addEventListener("keydown", (event) => {
    const shown = view(), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!shown?.ready || event.target.matches("textarea, input, select, button, summary, a") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") { event.preventDefault(); shown.toggle(); }
    else if (step) shown.move(step);
  });
}

// -- messages ----------------------------------------------------------------------------------------

// The deltas of a Chat Completions stream, put together as a client does: `add` takes the next ones, and
// `message` is what has come by then.
function gather() {
  const calls = new Map(), message = { reasoning: "", content: "", calls: [] };
  const add = (deltas) => {
    for (const delta of deltas) {
      message.reasoning += delta.reasoning_content || delta.reasoning || "";
      message.content += delta.content || "";
      for (const piece of listOf(delta.tool_calls)) {
        let call = calls.get(piece.index ?? 0);
        if (!call) {
          call = { name: "", arguments: "" };
          calls.set(piece.index ?? 0, call);
          message.calls.push(call);
        }
        call.name = piece.function?.name || call.name;
        call.arguments += piece.function?.arguments || "";
      }
    }
    return message;
  };
  return { add, message };
}

// The message that a whole trace comes to.
const messageOfTrace = ({ message, calls }) => ({ reasoning: message.reasoning_content ?? "", content: message.content ?? "", calls });

// A message as the client has it: thoughts, text, and each call; of many calls the first and the last ones.
function drawMessage(box, message) {
  const parts = [], { calls } = message, left = calls.length - MOST_CALLS;
  if (message.reasoning) parts.push(part("reasoning", "Reasoning", message.reasoning));
  if (message.content) parts.push(part("content", "Content", message.content));
  if (left > 0) {
    parts.push(...calls.slice(0, MOST_CALLS / 2).map(callPart));
    parts.push(make("p", `… ${left.toLocaleString("en")} of ${calls.length.toLocaleString("en")} calls are not drawn …`, "faint"));
    parts.push(...calls.slice(-MOST_CALLS / 2).map(callPart));
  } else parts.push(...calls.map(callPart));
  box.replaceChildren(...(parts.length ? parts : [make("p", "Nothing yet.", "faint")]));
}

function callPart(call) {
  const made = part(call.problem ? "bad" : "call", "Call", call.arguments);
  made.querySelector("h3").append(make("b", call.name));
  if (call.problem) made.append(make("small", call.problem, "bad"));
  return made;
}

function part(kind, title, text) {
  const made = make("div", undefined, `part is-${kind}`), shown = makeText("pre", cut(text));
  made.append(make("h3", title), shown);
  return made;
}

const cut = (text) => text.length <= MOST_IN_PART ? text
  : `${text.slice(0, MOST_IN_PART / 2)}\n… ${(text.length - MOST_IN_PART).toLocaleString("en")} characters are not drawn …\n${text.slice(-MOST_IN_PART / 2)}`;

function legend(box, kinds) {
  box.replaceChildren(...kinds.map((kind) => {
    const made = make("i", kind, kind);
    made.title = MEANING[kind];
    return made;
  }));
}

// The times between chunks, in milliseconds.
const waitsOf = (times) => times.map((time, i) => i ? time - times[i - 1] : time);

// Waits as bars; long ones stand out.
function graph(waits) {
  const space = "http://www.w3.org/2000/svg";
  const most = Math.max(1, ...waits), usual = [...waits].sort((a, b) => a - b)[waits.length >> 1] || 1;
  const svg = document.createElementNS(space, "svg"), width = 600 / waits.length;
  svg.setAttribute("viewBox", "0 0 600 48");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "graph");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${waits.length} chunks; the longest wait was ${Math.round(Math.max(...waits))} ms`);
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
