// What the debug page shows of a model's text, in headless Chromium: prints what it saw as JSON.
// node view_check.mjs CHROMIUM URL KEY. The exchanges, the newest first: lengthy, hostile, pensive, simple.
import { openPage, widths } from "./open_page.mjs";

const [executablePath, url, key] = process.argv.slice(2);
const { browser, page, saw } = await openPage(executablePath, { colorScheme: "dark" });
await page.goto(`${url}/proxy/debug`);
await page.fill("#key", key);
await page.keyboard.press("Enter");
await page.locator("#list li").first().waitFor();

// The chosen exchange is read by the server: whoever has chosen waits for that.
const read = () => page.waitForFunction(() => {
  const card = document.getElementById("written");
  return card?.dataset.read && card.dataset.read === document.querySelector("#list [aria-current=true]")?.dataset.id;
});
const choose = async (place) => {
  await page.locator("#list button").nth(place).click();
  await read();
};
const spans = (kind) => page.locator(`#shown .${kind}`).allTextContents();
const look = async () => ({ note: await page.locator("#note").textContent(), text: await page.locator("#shown").allTextContents(),
  reasoning: await spans("reasoning"), content: await spans("content"), name: await spans("name"), arguments: await spans("arguments"),
  made: await page.locator("#exchange img, #exchange script, #exchange b:not(h3 b)").count() });

await choose(3);
saw.native = { note: await page.locator("#note").textContent(), players: await page.locator("#slider").count(),
  calls: await page.locator("#message .is-call").count() };
await choose(2);
saw.pensive = await look();
saw.legend = await page.locator("#written .legend i").allTextContents();
// Played by the keyboard, to where the call is held.
await page.locator("#slider").focus();
await page.keyboard.press("Home");
saw.first = await page.locator("#place").textContent();
await page.click("#on");
saw.second = await page.locator("#place").textContent();
await page.locator("#shown").focus();
await page.keyboard.press("ArrowLeft");
saw.back = await page.locator("#place").textContent();
await page.keyboard.press(" ");
await page.getByText("the end", { exact: true }).waitFor();
await page.getByText("▶ Play").waitFor();
await page.evaluate(() => { const s = document.getElementById("slider"); s.value = s.max - 40; s.dispatchEvent(new Event("input")); });
saw.held = { why: await page.locator("#held-why").textContent(), spans: await spans("held") };
await choose(1);
saw.hostile = await look();
await choose(0);
saw.lengthy = { note: await page.locator("#note").textContent(), drawn: await page.locator("#drawn").textContent(),
  nodes: await page.evaluate(() => document.querySelectorAll("*").length) };

// By the keyboard alone; and what comes meanwhile does not take the focus away.
await page.locator("#list button").first().focus();
await page.keyboard.press("ArrowDown");
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await read();
saw.byKeys = (await look()).reasoning;
saw.stops = await page.locator("#list button[tabindex='0']").count();
const focused = () => page.evaluate(() => document.activeElement?.dataset.id ?? "");
const before = await focused();
const more = { model: "simple", messages: [{ role: "user", content: "?" }] };
await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(more) });
await page.locator("#list li").nth(4).waitFor();
saw.keptFocus = before !== "" && await focused() === before;

saw.widths = await widths(page);
await browser.close();
console.log(JSON.stringify(saw));
