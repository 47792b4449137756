// The browser of the tests: Debian's Chromium, which speaks to nobody but this machine.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

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
