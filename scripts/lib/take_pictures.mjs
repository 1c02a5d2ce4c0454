// Takes pictures of pages in headless Chromium. What to take comes as JSON on stdin:
//   {"browser": PATH, "pictures": [{"url", "path", "scheme", "width", "height", "ready", "key", "choose"}]}
// `ready` is what is waited for. The debug page asks for a `key`; then the exchange with that number is chosen.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const { browser: executablePath, pictures } = JSON.parse(readFileSync(0, "utf-8"));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const { url, path, scheme, width, height, ready, key, choose } of pictures) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height }, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(url);
  if (key) {
    await page.fill("#key", key);
    await page.click("#login button");
    await page.locator("#list button").nth(choose).click();
  }
  await page.locator(ready).first().waitFor();
  await page.evaluate(() => document.activeElement?.blur());
  await page.screenshot({ path });
  await context.close();
  console.log(`wrote ${path}`);
}
await browser.close();
