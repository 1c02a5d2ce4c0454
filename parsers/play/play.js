const TOOLS = [{ type: "function", function: { name: "get_weather", description: "The weather in a city",
  parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] } } }];
const EXAMPLES = [
  ["hermes", '<think>They want the forecast. I have a tool for that.</think>\nLet me look it up.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}\n</tool_call>'],
  ["qwen3_coder", 'I look it up.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>'],
  ["call_text", "Sure! get_weather(city=\"Oslo\", days=3)\nAnd then I tell you what to wear."],
  ["harmony", '<|channel|>analysis<|message|>They want the forecast.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>'],
  ["any", 'A call that is only mentioned, `<tool_call>`, is text.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Os'],
];
const CONVERSATION = { tools: TOOLS, messages: [
  { role: "system", content: "You are a helpful assistant." },
  { role: "user", content: "What is the weather in Oslo?" },
  { role: "assistant", content: "", tool_calls: [{ id: "call00001", type: "function",
    function: { name: "get_weather", arguments: { city: "Oslo", days: 3 } } }] },
  { role: "tool", tool_call_id: "call00001", name: "get_weather", content: "Rain, 4 degrees" },
] };
const LONGEST_LINK = 100000;

const state = { tab: "text", text: "", format: "any", reasoning: "", inside: false, tools: "", ends: null,
  step: -1, lines: "events", others: "", template: "", conversation: "" };
let start = null, trace = null, asked = 0, example = 0, waiting = 0, rendered = 0;

async function ask(name, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body),
    headers: { "content-type": "application/json" } };
  let answer;
  try { answer = await fetch(`/${name}`, options); } catch { throw new Error("No answer: is toolwire play still running?"); }
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error ?? `The server said ${answer.status}`);
  return told;
}

const question = () => ({ text: state.text, format: state.format, tools: state.tools, reasoning: state.reasoning,
  in_reasoning: state.inside, ends: state.ends });

// -- the text and its trace ------------------------------------------------------------------------

async function read() {
  const mine = ++asked, text = state.text;
  view.stop();
  at("state").textContent = "Reading …";
  try {
    const told = await ask("trace", question());
    if (mine !== asked) return; // there is a newer question
    trace = told;
    at("problem").textContent = "";
    const last = trace.steps.length - 1;
    showTools(trace.tools);
    at("state").textContent = `${text.length.toLocaleString("en")} characters, ${last.toLocaleString("en")} steps`
      + (trace.tokens_per_step > 1 ? ` of ${trace.tokens_per_step} tokens: the text is long` : "");
    view.show(text, trace, state.step);
  } catch (error) {
    if (mine !== asked) return;
    at("problem").textContent = error.message;
    at("state").textContent = "";
  }
  document.body.dataset.read = String(mine);
}

const view = player(at("player"), drawStep);

// What the client has after a step. The next step goes on from there; only who goes back begins anew.
let got = { trace: null, step: -1, gathered: gather() };

function messageAfter(step) {
  if (got.trace !== trace || got.step > step) got = { trace, step: -1, gathered: gather() };
  while (got.step < step) got.gathered.add(trace.steps[++got.step].deltas);
  return got.gathered.message;
}

function drawStep(step) {
  state.step = step;
  const last = trace.steps.length - 1, message = messageAfter(step);
  if (step === last) message.calls.forEach((call, i) => { call.problem = trace.calls[i]?.problem; });
  drawMessage(at("message"), message);
  at("message").scrollTop = at("message").scrollHeight; // where it grows
  at("finish").textContent = step === last && trace.length ? `finish_reason: ${trace.finish_reason}` : "";
  drawLines();
  remember();
}

function drawLines() {
  const rows = [];
  for (let i = state.step; i >= 0 && rows.length < MOST_LINES; i--) {
    const step = trace.steps[i], found = listOf(step[state.lines]);
    for (let j = found.length - 1; j >= 0 && rows.length < MOST_LINES; j--) rows.push([step.to, line(found[j]), i === state.step]);
  }
  const more = rows.length >= MOST_LINES;
  const made = rows.reverse().map(([to, text, isNew]) => {
    const row = make("li", undefined, isNew ? "new" : "");
    row.append(make("small", to), make("span", text));
    return row;
  });
  const note = make("li");
  note.append(make("small", "…"), make("span", "Earlier ones are not drawn: move the slider back."));
  at("lines").replaceChildren(...(more ? [note] : []), ...made);
  at("lines").scrollTop = at("lines").scrollHeight;
}

function line(one) {
  if (state.lines === "deltas") return cut(JSON.stringify(one));
  const { event, ...fields } = one;
  const told = Object.entries(fields).filter(([, value]) => value !== null);
  return cut(`${event}(${told.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(", ")})`);
}

function showTools(problems) {
  let count = "";
  try { const tools = JSON.parse(state.tools || "[]"); const many = listOf(tools.tools ?? tools).length; count = many ? `${many} declared` : "none: every name is a call"; } catch { count = ""; }
  at("tools-count").textContent = problems.length ? "something is wrong" : count;
  at("tools-problems").hidden = !problems.length;
  at("tools-problems").replaceChildren(...problems.map(toolProblem));
  at("tools").setAttribute("aria-invalid", String(problems.length > 0));
  if (problems.length) at("tools-card").open = true;
}

// What is wrong with the tools: a click shows where.
function toolProblem({ place, problem }) {
  const item = make("li"), said = place ? `${place}: ${problem}` : problem, box = at("tools");
  const where = Number(/\(char (\d+)\)$/.exec(problem)?.[1] ?? -1); // what is no JSON says where
  const range = place ? rangeOf(state.tools, place) : where < 0 ? null : [where, where + 1];
  if (!range) { item.textContent = said; return item; }
  const button = make("button", said);
  button.title = "Show where";
  button.addEventListener("click", () => {
    box.focus();
    box.setSelectionRange(...range);
    const line = state.tools.slice(0, range[0]).split("\n").length - 1;
    box.scrollTop = line * parseFloat(getComputedStyle(box).lineHeight) - box.clientHeight / 2;
  });
  item.append(button);
  return item;
}

// -- other readers ---------------------------------------------------------------------------------

// What is shown here is of one text: with another it is gone, and it is part of the address.
async function showOthers(which) {
  const box = at("others"), work = which === "compare" ? compare : () => askEngine(which, start.engines[which].name);
  state.others = which;
  remember();
  box.replaceChildren(make("p", "Reading…", "faint"));
  let shown;
  try { shown = await work(); } catch (error) { shown = [make("p", error.message, "bad")]; }
  if (state.others === which) box.replaceChildren(...shown);
}

function forgetOthers() {
  state.others = "";
  at("others").replaceChildren(make("p", "Which formats find calls in this text, and what an engine's own parser makes of it.", "faint"));
}

const knownOther = (which) => which === "compare" || start.engines[which]?.there;

async function compare() {
  const told = await ask("compare", question());
  if (!told.rows.length) return [make("p", `None of ${told.formats} formats finds a call in this text.`)];
  const table = make("table"), head = make("tr");
  head.append(...["Format", "Calls", "Problems", "Left"].map((name) => make("th", name)));
  table.append(head, ...told.rows.map((row) => {
    const made = make("tr"), first = make("td"), pick = make("button", row.format);
    pick.addEventListener("click", () => {
      state.format = at("format").value = row.format;
      markChosen();
      fresh("compare"); // which formats find calls does not depend on the one that is chosen
    });
    first.append(pick);
    made.dataset.format = row.format;
    made.append(first, make("td", `${row.calls.length} (${row.calls.join(", ").slice(0, 200)})`),
      make("td", row.problems || "none", row.problems ? "bad" : ""), make("td", row.left.toLocaleString("en")));
    return made;
  }));
  const box = make("div", undefined, "scroll");
  box.append(table);
  markChosen(table);
  return [make("p", `${told.rows.length} of ${told.formats} formats find calls here. Left are the characters that stay text.`, "faint"), box];
}

function markChosen(table = at("others")) {
  for (const row of table.querySelectorAll("[data-format]")) row.toggleAttribute("aria-current", row.dataset.format === state.format);
}

async function askEngine(key, name) {
  const told = await ask("engine", { ...question(), engine: key });
  if (told.problem) return [make("p", told.problem, "bad")];
  const theirs = make("div", undefined, "message"), ours = make("div", undefined, "message");
  drawMessage(theirs, { reasoning: "", content: told.content ?? "", calls: told.calls });
  drawMessage(ours, messageOfTrace(trace));
  return [make("h3", `${name}'s own ${told.parser}`), theirs, make("h3", `toolwire, ${trace.format}`), ours];
}

// -- controls --------------------------------------------------------------------------------------

function tabs(ids, choose) {
  const buttons = ids.map(at);
  buttons.forEach((button, i) => {
    button.addEventListener("click", () => choose(i));
    button.addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      const next = (i + move + buttons.length) % buttons.length;
      buttons[next].focus();
      choose(next);
    });
  });
  return (which) => buttons.forEach((button, i) => {
    button.setAttribute("aria-selected", String(i === which));
    button.tabIndex = i === which ? 0 : -1;
  });
}

const markTab = tabs(["tab-text", "tab-templates"], (i) => { state.tab = ["text", "templates"][i]; showTab(); remember(); });
const markLines = tabs(["show-events", "show-deltas"], (i) => { state.lines = ["events", "deltas"][i]; markLines(i); if (trace) drawLines(); remember(); });

function showTab() {
  const templates = state.tab === "templates";
  markTab(templates ? 1 : 0);
  at("page-text").hidden = templates;
  at("page-templates").hidden = !templates;
  at("state").hidden = templates; // it is about the text
  if (templates && !at("prompt").childNodes.length) render();
}

// The text is another, or is read in another way. `kept`: what other readers said that is still true.
function fresh(kept = "") {
  state.step = -1;
  if (!kept || state.others !== kept) forgetOthers();
  read();
}

function fill() {
  at("text").value = state.text;
  at("tools").value = state.tools;
  at("conversation").value = state.conversation;
  at("inside").checked = state.inside;
  for (const id of ["format", "reasoning", "template"]) at(id).value = state[id];
  markLines(state.lines === "deltas" ? 1 : 0);
}

let later = 0;
const soon = (work) => { clearTimeout(later); later = setTimeout(work, 250); };
at("text").addEventListener("input", () => { state.text = at("text").value; state.ends = null; soon(() => fresh()); });
at("tools").addEventListener("input", () => { state.tools = at("tools").value; soon(() => fresh()); });
at("format").addEventListener("change", () => { state.format = at("format").value; markChosen(); fresh("compare"); });
at("reasoning").addEventListener("change", () => { state.reasoning = at("reasoning").value; fresh(); });
at("inside").addEventListener("change", () => { state.inside = at("inside").checked; fresh(); });
at("compare").addEventListener("click", () => showOthers("compare"));
at("template").addEventListener("change", () => { state.template = at("template").value; render(); });
at("conversation").addEventListener("input", () => { state.conversation = at("conversation").value; remember(); });
at("render").addEventListener("click", render);
at("example").addEventListener("click", () => {
  example = (example + 1) % EXAMPLES.length;
  Object.assign(state, { format: EXAMPLES[example][0], text: EXAMPLES[example][1], ends: null, inside: false });
  fill();
  fresh();
});
at("link").addEventListener("click", async () => {
  const hash = await address();
  if (hash === null) { at("state").textContent = "The text is too long for an address: copy it as replay."; return; }
  history.replaceState(null, "", hash);
  copyText(at("link"), location.href, "Copied");
});
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", async () => {
  try { copyText(button, (await ask("copy", { ...question(), kind: button.dataset.copy })).text, "Copied"); }
  catch (error) { at("notice").textContent = error.message; }
});
addEventListener("hashchange", async () => { at("notice").textContent = ""; if (await recall()) await openState(); });
playByKeys(() => state.tab === "text" ? view : null);

async function begin() {
  legend(at("prompt-legend"), ["tools", "name", "arguments", "call", "result", "assistant", "user"]);
  try { start = await ask("start"); } catch (error) { at("notice").textContent = error.message; return; }
  at("format").replaceChildren(...start.formats.map((one) => new Option(one.models ? `${one.name} (${one.models.slice(0, 40)})` : one.name, one.name)));
  at("reasoning").replaceChildren(new Option("not looked for", ""), new Option("the format's own", "own"), ...start.reasoning.map((name) => new Option(name, name)));
  at("template").replaceChildren(...start.templates.map((one) => new Option(one.models ? `${one.name} (${one.models.slice(0, 40)})` : one.name, one.name)));
  at("engines").replaceChildren(...Object.entries(start.engines).filter(([, engine]) => engine.there).map(([key, engine]) => {
    const button = make("button", `Ask ${engine.name}`);
    button.addEventListener("click", () => showOthers(key));
    return button;
  }));
  at("slider").title = start.tokens_note;
  Object.assign(state, { format: EXAMPLES[0][0], text: EXAMPLES[0][1], reasoning: "own", tools: JSON.stringify(TOOLS, null, 2),
    conversation: JSON.stringify(CONVERSATION, null, 2), template: start.template });
  if (!await recall() && start.exchange) {
    const { text, format, tools, ends } = start.exchange;
    Object.assign(state, { text, format: format ?? "any", ends, tools: tools.length ? JSON.stringify(tools, null, 2) : "" });
  }
  await openState();
}

// An address may come from where there was more: a format of one's own, a template's file.
function known(id, what, usual) {
  if ([...at(id).options].some((one) => one.value === state[id])) return;
  at("notice").textContent = `The address names a ${what} that is not here, ${state[id]}: this is ${usual}.`;
  state[id] = usual;
}

// Everything as the state says.
async function openState() {
  const others = state.others;
  known("format", "format", "any");
  known("reasoning", "way of thoughts", "own");
  known("template", "template", start.template);
  fill();
  showTab();
  forgetOthers();
  await read();
  if (knownOther(others)) await showOthers(others);
}
begin();
