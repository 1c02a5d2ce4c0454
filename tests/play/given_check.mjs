// What the command line gives to toolwire play, and states of the page, in headless Chromium: prints JSON.
// node given_check.mjs CHROMIUM URL TEXT_FILE
import { readFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { openPage, waiting, widths } from "./open_page.mjs";

const [executablePath, url, file] = process.argv.slice(2);
const given = JSON.parse(readFileSync(file, "utf-8"));
const { browser, context, page, saw } = await openPage(executablePath, { permissions: ["clipboard-read", "clipboard-write"] });
const after = waiting(page);

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
saw.picked = { format: await page.inputValue("#format"), chosen: await page.locator("#others tr[aria-current] button").allTextContents() };
await after("read", () => page.fill("#text", "another text"));
saw.forgotten = await page.locator("#others table").count();

// What an address names, and is not here, is said.
const strange = await context.newPage();
await strange.goto(`${url}#${Buffer.from(deflateRawSync(JSON.stringify({ template: "file: gone.jinja" }))).toString("base64url")}`);
await strange.waitForSelector("body[data-read]");
saw.notices = [await strange.locator("#notice").textContent(), await strange.inputValue("#template")];
await strange.close();
const nonsense = await context.newPage();
await nonsense.goto(`${url}#nonsense`);
await nonsense.waitForSelector("body[data-read]");
saw.notices.push(await nonsense.locator("#notice").textContent());
await nonsense.close();

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
saw.wrongShown = await page.locator("#page-templates .shown:visible").count();
saw.widths = await widths(page);
await browser.close();
console.log(JSON.stringify(saw));
