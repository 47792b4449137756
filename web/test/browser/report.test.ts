// The built report, opened from disk, with nothing else within reach.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { count } from "../../src/format/units.ts";
import { reportOf } from "../fixture/report.ts";
import { type FixtureRecord, makeRun } from "../fixture/run.ts";
import { hasChromium, launch } from "./chromium.ts";

describe.skipIf(!hasChromium)("the report", () => {
  let browser: Browser;
  const folder = mkdtempSync(join(tmpdir(), "onrush-report-"));
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  async function opened(records: FixtureRecord[] | null, summary: unknown) {
    const file = join(folder, "report.html");
    writeFileSync(file, reportOf(records, summary));
    const context = await browser.newContext({ offline: true });
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
        expect(asked.filter((url) => !url.startsWith("file:") && !url.startsWith("data:") && !url.startsWith("blob:"))).toEqual(
          [],
        );
      },
    };
  }

  test("shows its run from disk, offline, and asks nobody for anything", async () => {
    const { records, truth } = makeRun({ seconds: 60, mode: "report" });
    const { page, close } = await opened(records, {});
    await page.waitForSelector(".tile");
    const requests = [...truth.durations.values()].flat(2).length;
    expect(await page.locator(".tile").first().textContent()).toContain(`${count(requests)} in all`);
    expect(await page.title()).toBe("checkout.js: Onrush report");
    expect(await page.locator(".verdicts").innerText()).toMatch(
      /Thresholds crossed[\s\S]*exit code 99: a threshold was crossed/,
    );
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
    const handle = page.getByRole("slider", { name: "End of the selected time" });
    await handle.focus();
    await handle.press("Shift+ArrowLeft");
    const part = [...truth.durations.values()].flatMap((seconds) => seconds.slice(0, 50)).flat().length;
    await expect.poll(() => page.locator(".tile").first().textContent()).toContain(`${count(part)} in all`);
    await close();
  });

  test("texts neither end the data nor become markup", async () => {
    const evil = "</script><script>alert(1)</script><!--<script><img src=x onerror=alert(2)>";
    const { records } = makeRun({ seconds: 12, mode: "report", evil });
    const { page, close } = await opened(records, { metrics: { [evil]: { count: 1 } } });
    await page.waitForSelector(".tile");
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.locator("body").innerText()).toContain(evil);
    await close();
  });

  test("shows what a summary has where there is no stream", async () => {
    const { page, close } = await opened(null, {
      metrics: {
        http_reqs: { type: "counter", values: { count: 1_234, rate: 20.5 } },
        http_req_duration: { avg: 12.345, "p(95)": 34 },
      },
    });
    await page.waitForSelector("#summary");
    const text = (await page.locator("#summary").innerText()).replaceAll(/\s+/g, " ");
    expect(text).toContain("http_reqs count 1,234 rate 20.5");
    expect(text).toContain("http_req_duration avg 12.3 p(95) 34");
    await close();
  });

  test("is drawn as a whole when it is printed", async () => {
    const { page, close } = await opened(makeRun({ seconds: 60, mode: "report" }).records, {});
    await page.waitForSelector(".tile");
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    expect(pdf.byteLength).toBeGreaterThan(50_000);
    // As printing begins, every chart has its picture, those far below included.
    const [charts, drawn] = await page.evaluate(() => {
      dispatchEvent(new Event("beforeprint"));
      const areas = document.querySelectorAll(".plot-area");
      const canvases = document.querySelectorAll(".plot-area canvas");
      const theme = document.documentElement.dataset.theme;
      dispatchEvent(new Event("afterprint"));
      return [areas.length, canvases.length, theme];
    });
    expect(charts).toBeGreaterThan(8);
    expect(drawn).toBe(charts);
    await close();
  });
});
