// The built report, opened from disk, with nothing else within reach.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { count } from "../../src/format/units.ts";
import { reportOf } from "../fixture/report.ts";
import { type FixtureRecord, LONG, makeRun } from "../fixture/run.ts";
import { expectAccessible } from "./axe.ts";
import { hasChromium, launch, openOffline } from "./chromium.ts";

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

  async function opened(records: FixtureRecord[] | null, summary: unknown, options: BrowserContextOptions = {}) {
    const file = join(folder, "report.html");
    writeFileSync(file, reportOf(records, summary));
    return openOffline(browser, file, options);
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
    const { page, close } = await opened(null, SUMMARY);
    await page.waitForSelector("#summary");
    const text = (await page.locator("#summary").innerText()).replaceAll(/\s+/g, " ");
    expect(text).toContain("http_reqs count 1,234 rate 20.5");
    expect(text).toContain("http_req_duration avg 12.3 p(95) 34");
    expect(text).toContain("no charts");
    expect(await page.locator("header").innerText()).toContain("Summary");
    const verdicts = (await page.locator(".verdicts").innerText()).replaceAll(/\s+/g, " ");
    expect(verdicts).toContain("Thresholds crossed 1 threshold of 2 is crossed.");
    expect(verdicts).toContain("checks rate>0.9 crossed");
    expect(verdicts).toContain("http_req_duration p(95)<200 holds");
    expect(verdicts).toContain("The run took 1 min");
    expect(verdicts).toContain("Measurement suspect");
    expect(verdicts).toContain("timers fired late");
    expect((await page.locator("#checks tbody").innerText()).replaceAll(/\s+/g, " ")).toContain("status is 200 3 1 75 %");
    expect(await page.locator(".plot, .tile").count()).toBe(0);
    await close();
  });

  test("says nothing of a verdict that a summary does not have", async () => {
    const { page, close } = await opened(null, { metrics: {} });
    await page.waitForSelector("#summary");
    expect(await page.locator(".verdict").allInnerTexts()).toEqual([expect.stringContaining("No thresholds")]);
    expect(await page.locator("#summary").innerText()).toContain("The summary has no metrics.");
    await close();
  });

  test("of a run that was killed it says so, and when its data end", async () => {
    const { records } = makeRun({ seconds: 12, mode: "report", hasEnd: false });
    const thresholds = [{ metric: "checks", source: "rate>0.9", ok: true, judged: true, value: 0.95 }];
    const { page, close } = await opened(
      [
        ...records.filter(({ event }) => event !== "state"),
        { event: "state", data: { atMs: 12_000, elapsedMs: 12_000, phase: "closed", thresholds, verdict: null } },
        { event: "end", data: { durationMs: 12_000, exitCode: null, stopped: null, verdict: null } },
      ],
      {},
    );
    await page.waitForSelector(".ending");
    expect(await page.locator(".phase").innerText()).toContain("Cut off");
    const verdicts = (await page.locator(".verdicts").innerText()).replaceAll(/\s+/g, " ");
    expect(verdicts).toContain("Thresholds held until the run was cut off");
    expect(verdicts).toContain("The data end at 0:12.");
    expect(verdicts).toContain("Measurement not judged The run broke off");
    await close();
  });

  test("one that was saved during the run says that, too", async () => {
    const { page, close } = await opened(makeRun({ seconds: 12, mode: "report", hasEnd: false }).records, {});
    await page.waitForSelector(".tile");
    expect(await page.locator(".phase").innerText()).toContain("Under way when this was saved");
    await close();
  });

  describe.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 360],
    ["dark", 360],
  ] as const)("axe finds nothing serious: %s, %i pixels", (colorScheme, width) => {
    const options = { colorScheme, viewport: { width, height: 900 } };

    test("in a run", async () => {
      const { page, close } = await opened(makeRun({ seconds: 30, agents: 2, mode: "report" }).records, {}, options);
      await page.waitForSelector(".tile");
      await page.locator(".data summary").first().click();
      await expectAccessible(page);
      await close();
    });

    test("in a summary", async () => {
      const { page, close } = await opened(null, SUMMARY, options);
      await page.waitForSelector("#summary");
      await expectAccessible(page);
      await close();
    });
  });

  test("is drawn as a whole when it is printed, in light colours", async () => {
    const { records } = makeRun({ seconds: 60, mode: "report" });
    const { page, close } = await opened(records, {}, { colorScheme: "dark" });
    await page.waitForSelector(".tile");
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    expect(pdf.byteLength).toBeGreaterThan(50_000);
    // As printing begins, every chart has its picture, those far below included.
    const [charts, drawn, themes] = await page.evaluate(() => {
      const { dataset } = document.documentElement;
      const themes = [dataset.theme];
      dispatchEvent(new Event("beforeprint"));
      const areas = document.querySelectorAll(".plot-area");
      const canvases = document.querySelectorAll(".plot-area canvas");
      themes.push(dataset.theme);
      dispatchEvent(new Event("afterprint"));
      return [areas.length, canvases.length, [...themes, dataset.theme]] as const;
    });
    expect(charts).toBeGreaterThan(8);
    expect(drawn).toBe(charts);
    expect(themes).toEqual(["dark", "light", "dark"]);
    await close();
  });

  test("nothing is wider than the paper, heads of tables are repeated, verdicts keep their colours", async () => {
    const viewport = { width: Math.ceil(PAPER_PIXELS), height: 900 };
    const { page, close } = await opened(makeRun({ seconds: 20, mode: "report", ...LONG }).records, {}, { viewport });
    await page.waitForSelector(".tile");
    await page.emulateMedia({ media: "print" });
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    const wide = await page.evaluate((width) => {
      const all = [...document.querySelectorAll("main *")];
      return all.filter((one) => one.getBoundingClientRect().right > width).map((one) => one.outerHTML.slice(0, 200));
    }, PAPER_PIXELS);
    expect(wide).toEqual([]);
    const sides = await page
      .locator(".verdict")
      .evaluateAll((all) => all.map((one) => [getComputedStyle(one).borderLeftColor, getComputedStyle(one).borderTopColor]));
    expect(sides.map(([left, top]) => left === top)).toEqual([false, false]);
    const heads = await page.locator("thead button").evaluateAll((all) => all.map((one) => getComputedStyle(one).display));
    expect(new Set(heads)).toEqual(new Set(["contents"]));
    // What the paper does not have, it says.
    expect(await page.locator("#requests .grid-more").innerText()).toBe("The first 100 rows.");
    expect(await page.locator("#requests tbody tr").count()).toBe(100);
    await close();
  });
});

/** The width of A4 less the margins of the style sheet for paper. */
const PAPER_PIXELS = ((210 - 2 * 12) / 25.4) * 96;

const SUMMARY = {
  metrics: {
    http_reqs: { type: "counter", values: { count: 1_234, rate: 20.5 } },
    http_req_duration: { avg: 12.345, "p(95)": 34, thresholds: { "p(95)<200": false } },
    checks: { value: 0.75, passes: 3, fails: 1, thresholds: { "rate>0.9": true } },
  },
  root_group: { name: "", groups: {}, checks: { "status is 200": { name: "status is 200", passes: 3, fails: 1 } } },
  measurement: { verdict: "SUSPECT", reasons: ["timers fired late"], notes: [] },
};
