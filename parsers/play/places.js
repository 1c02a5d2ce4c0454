// -- where in a JSON text something stands -----------------------------------------------------------

// From a place such as tools[0].function.name to where it begins and ends in the text of the tools; if it
// is not there, what it is missing in.
function rangeOf(text, place) {
  let best = null;
  const stack = [], root = rootOf(text);
  const pathHere = () => {
    const top = stack[stack.length - 1];
    return !top ? root : top.list ? `${top.path}[${top.index}]` : top.path ? `${top.path}.${top.key}` : top.key;
  };
  const found = (path, start, end) => {
    const leads = place === path || place.startsWith(`${path}.`) || place.startsWith(`${path}[`);
    if (leads && (!best || path.length > best.path.length)) best = { path, range: [start, end] };
  };
  for (const { 0: token, index: start } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    const top = stack[stack.length - 1], end = start + token.length;
    if (token === "{" || token === "[") stack.push({ path: pathHere(), list: token === "[", index: 0, key: null, start });
    else if (token === "}" || token === "]") { const done = stack.pop(); if (done) found(done.path, done.start, end); }
    else if (token === ",") { if (top?.list) top.index++; else if (top) top.key = null; }
    else if (token !== ":" && top && !top.list && top.key === null) top.key = JSON.parse(token);
    else if (token !== ":") found(pathHere(), start, end);
  }
  return best?.range ?? null;
}

// Tools are a list, an object with a list of them, or one tool by itself.
function rootOf(text) {
  const tools = JSON.parse(text);
  return Array.isArray(tools) ? "tools" : tools?.tools === undefined ? "tools[0]" : "";
}
