// An engine's own parser beside ours on the page of toolwire play: prints what it saw as JSON.
// node engine_check.mjs CHROMIUM URL NAME_OF_THE_ENGINE TEXT FORMAT_THAT_IT_DOES_NOT_KNOW
import { openPage, waiting, widths } from "./open_page.mjs";

const [executablePath, url, engine, text, unknown] = process.argv.slice(2);
const { browser, context, page, saw } = await openPage(executablePath, { permissions: ["clipboard-read", "clipboard-write"] });
const after = waiting(page);
await after("read", () => page.goto(url));
await after("read", () => page.selectOption("#format", "hermes"));
await after("read", () => page.fill("#text", text));
saw.buttons = await page.locator("#engines button").allTextContents();
const ask = async () => {
  await page.getByRole("button", { name: `Ask ${engine}` }).click();
  await page.locator("#others > h3, #others > .bad").first().waitFor();
};

// Both messages, each under the name of its parser.
const readers = (from) => from.locator("#others > .message").evaluateAll((all) => all.map((one) => ({
  who: one.previousElementSibling.textContent,
  content: [...one.querySelectorAll(".is-content pre")].map((part) => part.textContent.trim()),
  calls: [...one.querySelectorAll(".is-call")].map((part) => [part.querySelector("b").textContent, part.querySelector("pre").textContent]),
})));
await ask();
saw.readers = await readers(page);
saw.made = await page.locator("#others img, #others script").count();
saw.widths = await widths(page);

// It is part of the address, and is gone with its text.
await page.click("#link");
await page.locator("#link").filter({ hasText: "Copied" }).waitFor();
const other = await context.newPage();
await other.goto(await page.evaluate(() => navigator.clipboard.readText()));
await other.locator("#others > h3").first().waitFor();
saw.opened = await readers(other);
await other.close();
await after("read", () => page.selectOption("#format", unknown));
saw.forgotten = await page.locator("#others > .message").count();
await ask();
saw.unknown = await page.locator("#others .bad").textContent();
await browser.close();
console.log(JSON.stringify(saw));
