// Drives toolwire play in headless Chromium, and prints what it saw as JSON.
// node play_check.mjs CHROMIUM URL TEXT_FILE
import { readFileSync } from "node:fs";
import { openPage, waiting } from "./open_page.mjs";

const [executablePath, url, file] = process.argv.slice(2);
const { browser, context, page, saw } = await openPage(executablePath,
  { permissions: ["clipboard-read", "clipboard-write"], colorScheme: "dark" });
const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
const after = waiting(page), afterRead = (act) => after("read", act);
const paste = (text) => afterRead(() => page.evaluate((given) => {
  const box = document.getElementById("text");
  box.focus();
  box.value = given;
  box.dispatchEvent(new Event("input", { bubbles: true }));
}, text));
const parts = (kind) => page.locator(`#message .is-${kind} pre`).allTextContents();
const spans = (kind) => page.locator(`#shown .${kind}`).allTextContents();

await afterRead(() => page.goto(url));
saw.example = { call: await parts("call"), content: await parts("content"), reasoning: await parts("reasoning"),
  name: await spans("name") };

// Of no text nothing is said.
await paste("");
saw.empty = { finish: await page.locator("#finish").textContent(), shown: await page.locator("#shown").textContent() };

// What a model wrote may be anything, and stays text.
const given = JSON.parse(readFileSync(file, "utf-8"));
await afterRead(() => page.selectOption("#format", "any"));
await afterRead(() => page.selectOption("#format", "hermes"));
await paste(given.hostile);
saw.hostile = { shown: await page.locator("#shown").textContent(), content: await parts("content"),
  signs: await page.locator("#shown .sign").evaluateAll((all) => all.map((one) => one.dataset.code)),
  made: await page.locator("#shown img, #shown script, #message img, #message script").count() };

// Play it token by token, by the keyboard: what is held is shown, with a reason.
await paste(given.call);
await page.locator("#slider").focus();
await page.keyboard.press("Home");
for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowRight");
saw.held = { text: await page.locator("#held-text").textContent(), why: await page.locator("#held-why").textContent(),
  spans: await spans("held"), calls: await parts("call") };
await page.locator("#shown").focus();
await page.keyboard.press(" ");
await page.getByText("the end", { exact: true }).waitFor();
await page.getByText("▶ Play").waitFor();
saw.played = await parts("call");
await page.click("#show-deltas");
saw.deltas = await page.locator("#lines li span").allTextContents();

await afterRead(() => page.fill("#tools", '[{"type": "function", "function": {"name": "bad name"}}]'));
saw.problems = await page.locator("#tools-problems li").allTextContents();
// A click shows where.
const selected = () => page.evaluate(() => { const box = document.getElementById("tools"); return box.value.slice(box.selectionStart, box.selectionEnd); });
await page.locator("#tools-problems button").filter({ hasText: "function.name" }).click();
saw.places = [await selected()];
await afterRead(() => page.fill("#tools", '{"tools": [{"type": "function"}]}'));
await page.locator("#tools-problems button").first().click();
saw.places.push(await selected());
await afterRead(() => page.fill("#tools", "[{]"));
await page.locator("#tools-problems button").first().click();
saw.places.push(await selected());
await afterRead(() => page.fill("#tools", '[{"type": "function", "function": {"name": "bad name"}}]'));

await page.click("#compare");
await page.locator("#others table").waitFor();
saw.compared = await page.locator("#others tr").allInnerTexts();

saw.copied = {};
for (const kind of ["test", "toml", "replay"]) {
  await page.click(`[data-copy=${kind}]`);
  await page.locator(`[data-copy=${kind}]`).filter({ hasText: "Copied" }).waitFor();
  saw.copied[kind] = await clipboard();
}
// Every state has an address.
await page.click("#link");
await page.locator("#link").filter({ hasText: "Copied" }).waitFor();
const other = await context.newPage();
await other.goto(await clipboard());
await other.waitForSelector("body[data-read]");
saw.again = { text: await other.inputValue("#text"), lines: await other.locator("#lines li span").allTextContents() };
await other.close();

// A megabyte: what is drawn is bounded, and said.
await paste(given.large);
const drawn = async () => ({ drawn: await page.locator("#drawn").textContent(), calls: await parts("call"),
  left: await page.locator("#message > p").allTextContents(), lines: await page.locator("#lines li").count(),
  nodes: await page.evaluate(() => document.querySelectorAll("*").length) });
const moveTo = (part) => page.evaluate((share) => {
  const slider = document.getElementById("slider");
  slider.value = Math.floor(slider.max * share);
  slider.dispatchEvent(new Event("input"));
}, part);
const alongIt = async () => {
  const end = await drawn();
  await moveTo(.5);
  const middle = await drawn();
  await page.click("#on");
  const next = await drawn();
  await moveTo(1);
  return { end, middle, next, again: await drawn() };
};
saw.large = await alongIt();
// … and one of many small calls, in which there is hardly a character that decides nothing.
await paste(given.many);
saw.many = await alongIt();
saw.many.problems = await page.locator("#message .is-bad").count();
await page.click("#show-events");
saw.many.event = await page.locator("#lines li span").last().textContent();

await page.click("#tab-templates");
await page.waitForSelector("body[data-rendered]");
saw.template = { prompt: await page.locator("#prompt").textContent(), tools: await page.locator("#prompt .tools").allTextContents(),
  names: await page.locator("#prompt .name").allTextContents(), results: await page.locator("#prompt .result").allTextContents(),
  next: await page.locator("#next .part").allInnerTexts(), detect: await page.locator("#detect").innerText(),
  probes: await page.locator("#probes .probe").count() };
// Nothing is wider than a phone.
await page.setViewportSize({ width: 390, height: 800 });
saw.phone = [await page.evaluate(() => document.documentElement.scrollWidth)];
await page.click("#tab-text");
saw.phone.push(await page.evaluate(() => document.documentElement.scrollWidth));
saw.storage = await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length);
await browser.close();
console.log(JSON.stringify(saw));
