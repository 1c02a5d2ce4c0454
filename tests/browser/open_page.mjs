// What the scripts that drive a page have in common: a page in headless Chromium, and what went wrong on it.
import { chromium } from "playwright-core";

// However busy the machine is, this is long enough.
const timeout = 600_000;

// `options` are those of a browser's context. `saw` grows while the page is used.
export async function openPage(executablePath, options) {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout });
  const context = await browser.newContext(options);
  context.setDefaultTimeout(timeout);
  const page = await context.newPage();
  const saw = { errors: [], hosts: [], dialogs: 0 };
  page.on("pageerror", (error) => saw.errors.push(String(error)));
  page.on("request", (request) => saw.hosts.push(new URL(request.url()).host));
  page.on("dialog", (dialog) => { saw.dialogs++; dialog.dismiss(); });
  return { browser, context, page, saw };
}

// Each answer of the server counts up in `data-NAME`: whoever has acted waits for the next one.
export function waiting(page) {
  return async (name, act) => {
    const before = await page.evaluate((key) => Number(document.body.dataset[key] ?? 0), name);
    await act();
    await page.waitForFunction(([key, count]) => Number(document.body.dataset[key] ?? 0) > count, [name, before]);
  };
}

// The page is as wide as the window, in each of these.
export async function widths(page) {
  const found = [];
  for (const width of [390, 820, 1400]) {
    await page.setViewportSize({ width, height: 900 });
    found.push(await page.evaluate(() => document.documentElement.scrollWidth));
  }
  return found;
}
