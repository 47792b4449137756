// Pictures of the page for people to look at, only where PICTURES names a folder.

import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { reportOf } from "../fixture/report.ts";
import { LONG, makeRun } from "../fixture/run.ts";
import { FixtureServer } from "../fixture/server.ts";
import { hasChromium, launch } from "./chromium.ts";

const folder = process.env.PICTURES;

test.skipIf(!hasChromium || folder === undefined)("pictures", { timeout: 120_000 }, async () => {
  const server = new FixtureServer();
  const { records } = makeRun({ seconds: 600, hasEnd: false, agents: 3 });
  const url = await server.start(records);
  const browser = await launch();
  for (const [width, height] of [
    [1440, 900],
    [768, 1024],
    [360, 740],
  ] as const) {
    for (const scheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
      await page.goto(url);
      await page.waitForSelector(".tile");
      await page.waitForTimeout(600);
      await page.screenshot({ path: `${folder}/${width}-${scheme}-top.png` });
      await page.evaluate("document.documentElement.style.setProperty('overflow','visible')");
      for (let y = 0; y < 9_000; y += 700) {
        await page.evaluate(`scrollTo(0, ${y})`);
        await page.waitForTimeout(60);
      }
      await page.evaluate("scrollTo(0, 0)");
      await page.setViewportSize({ width, height: 6_000 });
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${folder}/${width}-${scheme}.png`, fullPage: true });
      await page.close();
    }
  }
  for (const [name, scheme, options] of [
    ["report", "light", {}],
    ["report-long", "dark", LONG],
  ] as const) {
    const file = `${folder}/${name}.html`;
    writeFileSync(file, reportOf(makeRun({ seconds: 600, mode: "report", ...options }).records, { metrics: {} }));
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 }, colorScheme: scheme });
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector(".tile");
    await page.pdf({ path: `${folder}/${name}.pdf`, preferCSSPageSize: true, printBackground: true });
    await page.close();
  }
  await browser.close();
  await server.stop();
  expect(folder).toBeDefined();
});
