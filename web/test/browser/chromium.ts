// The browser of the tests: Debian's Chromium, which speaks to nobody but this machine.

import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const hasChromium = existsSync(EXECUTABLE);
if (!hasChromium) {
  console.error(`no browser tests: there is no ${EXECUTABLE} (Debian: apt-get install chromium; or set CHROMIUM)`);
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A report from disk in a browser without a network. To close it fails on any error, and if anything was asked for elsewhere. */
export async function openOffline(
  browser: Browser,
  file: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; close: () => Promise<void> }> {
  const context = await browser.newContext({ offline: true, ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  const asked: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => errors.push(...(message.type() === "error" ? [message.text()] : [])));
  page.on("dialog", (dialog) => {
    errors.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  return {
    page,
    close: async () => {
      await context.close();
      expect(errors).toEqual([]);
      expect(asked.filter((url) => !/^(file|data|blob):/.test(url))).toEqual([]);
    },
  };
}
