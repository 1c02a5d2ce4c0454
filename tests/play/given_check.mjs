// What the command line gives to toolwire play, and states of the page, in headless Chromium: prints JSON.
// node given_check.mjs URL CHROMIUM TEXT_FILE
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [url, executablePath, file] = process.argv.slice(2);
const given = JSON.parse(readFileSync(file, "utf-8"));
// However busy the machine is, this is long enough.
const timeout = 600_000;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout });
const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
context.setDefaultTimeout(timeout);
const page = await context.newPage();
const saw = { errors: [], dialogs: 0 };
page.on("pageerror", (error) => saw.errors.push(String(error)));
page.on("dialog", (dialog) => { saw.dialogs++; dialog.dismiss(); });
const counted = (name) => page.evaluate((key) => Number(document.body.dataset[key] ?? 0), name);
const after = async (name, act) => {
  const before = await counted(name);
  await act();
  await page.waitForFunction(([key, count]) => Number(document.body.dataset[key] ?? 0) > count, [name, before]);
};

// The captured exchange is there, in the pieces in which it came.
await after("read", () => page.goto(url));
saw.exchange = { text: await page.inputValue("#text"), format: await page.inputValue("#format"), steps: await page.getAttribute("#slider", "max"),
  tokens: await page.getAttribute("#slider", "title") };
await page.locator("#slider").focus();
await page.keyboard.press("Home");
saw.places = [];
for (const button of ["#on", "#on", "#back"]) {
  await page.click(button);
  saw.places.push(await page.locator("#place").textContent());
}
// A text that was typed comes in the model's own tokens.
await after("read", () => page.fill("#text", "two words"));
saw.typed = await page.getAttribute("#slider", "max");

// A comparison is part of the address, and is gone with its text.
await after("read", () => page.fill("#text", given.call));
await page.click("#compare");
await page.locator("#others table").waitFor();
await page.click("#link");
await page.locator("#link").filter({ hasText: "Copied" }).waitFor();
const other = await context.newPage();
await other.goto(await page.evaluate(() => navigator.clipboard.readText()));
await other.locator("#others table").waitFor();
saw.compared = await other.locator("#others tr").count() === await page.locator("#others tr").count();
await other.close();
await after("read", () => page.locator("#others td button").filter({ hasText: /^glm45$/ }).click());
saw.picked = { format: await page.inputValue("#format"), tables: await page.locator("#others table").count() };
await after("read", () => page.fill("#text", "another text"));
saw.forgotten = await page.locator("#others table").count();

// Templates: the model's own, a file, and ours; by the keyboard.
await page.locator("#tab-text").focus();
await after("renders", () => page.keyboard.press("ArrowRight"));
saw.templates = await page.locator("#template option").evaluateAll((all) => all.slice(0, 3).map((one) => one.value));
const look = async () => ({ prompt: await page.locator("#prompt").textContent(), next: await page.locator("#next .part").allInnerTexts(),
  made: await page.locator("#page-templates img, #page-templates script").count() });
saw.model = await look();
await after("renders", () => page.selectOption("#template", saw.templates[1]));
saw.file = await look();
saw.parser = await page.locator("#detect tr").first().innerText();
await after("renders", () => page.selectOption("#template", "chatml-hermes"));
await page.locator("details summary").filter({ hasText: "Each probe" }).click();
saw.probe = await page.locator("#probes .probe").first().innerText();
await page.fill("#conversation", JSON.stringify({ messages: [{ role: "user", content: given.hostile }] }));
await after("renders", () => page.click("#render"));
saw.hostile = await look();
await page.fill("#conversation", "{");
await after("renders", () => page.click("#render"));
saw.wrong = await page.locator("#render-state").textContent();
saw.widths = [];
for (const width of [390, 820, 1400]) {
  await page.setViewportSize({ width, height: 900 });
  saw.widths.push(await page.evaluate(() => document.documentElement.scrollWidth));
}
await browser.close();
console.log(JSON.stringify(saw));
