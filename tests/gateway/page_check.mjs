// Drives the debug page in headless Chromium, and prints what it saw as JSON.
// node page_check.mjs CHROMIUM URL KEY
import { openPage } from "./open_page.mjs";

const [executablePath, url, key] = process.argv.slice(2);
const { browser, page, saw } = await openPage(executablePath, { permissions: ["clipboard-read", "clipboard-write"] });
await page.goto(`${url}/proxy/debug`);
saw.before = await page.locator("#list li").count();
const login = async (with_key) => {
  await page.fill("#key", with_key);
  await page.click("#login button");
};
await login("wrong");
await page.getByText("That key is wrong.").waitFor();
await login(key);
await page.locator("#list li").first().waitFor();
saw.rows = await page.locator("#list li").allInnerTexts();
saw.state = await page.locator("#state").innerText();
saw.address = page.url();
await page.selectOption("#reason", "invalid_json");
saw.filtered = await page.locator("#list li").allInnerTexts();
await page.locator("#list button").first().click();
saw.onlyRaw = await page.locator(".only-raw").allInnerTexts();
saw.onlyEmitted = await page.locator(".only-emitted").allInnerTexts();
saw.same = await page.locator(".side span:not([class]), .side span[class='']").count();
await page.click("#copy");
await page.getByText("Copied").waitFor();
saw.copied = await page.evaluate(() => navigator.clipboard.readText());
// The message as the client has it, and when its chunks came.
const parts = (kind) => page.locator(`#message .is-${kind} pre`);
saw.message = { calls: await page.locator("#message .part h3 b").allTextContents(), graph: await page.locator(".graph rect").count() };
// What the model thought stands by itself, where it thought anything.
saw.thoughtless = await parts("reasoning").count();
await page.selectOption("#reason", "ok");
saw.thoughts = [];
for (let place = 0; place < 2; place++) {
  await page.locator("#list button").nth(place).click();
  const heading = await page.locator("#exchange h2").first().textContent();
  saw.thoughts.push([heading, await parts("reasoning").textContent()]);
}
// By model and by tool.
await page.selectOption("#reason", "");
saw.models = await page.locator("#model option").allInnerTexts();
saw.tools = await page.locator("#tool option").allInnerTexts();
await page.selectOption("#model", "m");
saw.byModel = await page.locator("#list li").count();
await page.selectOption("#model", "");
await page.selectOption("#tool", "add");
saw.byTool = await page.locator("#list li").count();
await page.selectOption("#tool", "");
// New exchanges show up by themselves.
const more = { model: "simple", messages: [{ role: "user", content: "?" }] };
await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(more) });
await page.selectOption("#reason", "");
await page.locator("#list li").nth(saw.rows.length).waitFor();
saw.storage = await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length);
await browser.close();
console.log(JSON.stringify(saw));
