// What the page costs: eight hours of a run with 200 series within its heap, a second's update within a frame or few, the first
// picture soon after the first byte, and a size that a phone loads at once.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FixtureRecord, generator, makeRun } from "../fixture/run.ts";
import { ASSETS, FixtureServer } from "../fixture/server.ts";
import { hasChromium, launch } from "./chromium.ts";

const HOURS = 8;
const SECONDS = HOURS * 3_600;
/**
 * As a page sees it that comes late or lies in the background: fewer, larger steps; there are more than it keeps in any case.
 * With STEP_SECONDS=1 they come as a page sees them that is open all the time, which takes seven minutes beside other work.
 */
const STEP_SECONDS = Number(process.env.STEP_SECONDS ?? 8);
const STEPS_AT_ONCE = 60;
const HEAP_BYTES_MAX = 100_000_000;
const COMPRESSED_BYTES_MAX = 150_000;
/** It is 140 to 390 ms on two cores with other work, 190 as a rule; a build machine may have far more of it. */
const FIRST_PAINT_MS_MAX = 1_500;

test("the page loads less than 150 KB", () => {
  const sizes = ["index.html", "app.js", "app.css"].map((name) => gzipSync(readFileSync(new URL(name, ASSETS))).byteLength);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`the dashboard is ${total} bytes compressed`);
  expect(total).toBeLessThan(COMPRESSED_BYTES_MAX);
});

describe.skipIf(!hasChromium)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  test("the first picture comes soon", async () => {
    const server = new FixtureServer();
    const url = await server.start(makeRun({ seconds: 300, hasEnd: false }).records);
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const page = await browser.newPage();
      await page.goto(url);
      await page.waitForSelector(".tile");
      times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN));
      await page.close();
    }
    await server.stop();
    console.log(`first paint after ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
    // The best of five: other programs on the machine are not the page's doing.
    expect(Math.min(...times)).toBeLessThan(FIRST_PAINT_MS_MAX);
  });

  test(`${HOURS} hours of 200 series stay within the heap, and quick`, { timeout: 3_200_000 / STEP_SECONDS }, async () => {
    const server = new FixtureServer();
    const url = await server.start([]);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(url);
    const { head, stepOf } = longRun();
    server.send(head);
    await page.waitForSelector(".tile");
    for (let second = 0; second < SECONDS; second += STEPS_AT_ONCE * STEP_SECONDS) {
      server.send(Array.from({ length: STEPS_AT_ONCE }, (_, more) => stepOf(second + more * STEP_SECONDS)));
      // No faster than the page reads: it is the page that is measured.
      await page.waitForFunction(
        (until) => {
          const text = document.querySelector("[aria-label='End of the selected time']")?.getAttribute("aria-valuenow");
          return Number(text) >= until;
        },
        second + STEPS_AT_ONCE * STEP_SECONDS,
      );
      server.forget();
    }
    const debug = await page.context().newCDPSession(page);
    await debug.send("HeapProfiler.collectGarbage");
    const usage = (await debug.send("Runtime.getHeapUsage")) as { usedSize: number; backingStorageSize?: number };
    const heap = usage.usedSize + (usage.backingStorageSize ?? 0);
    const update = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const start = performance.now();
          // A selection of everything recomputes every number from the steps.
          const handle = document.querySelector<HTMLElement>("[aria-label='Beginning of the selected time']");
          handle?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start), 0));
        }),
    );
    console.log(
      `after ${HOURS} hours: heap ${(heap / 1e6).toFixed(1)} MB, a selection of nearly all of it takes ${update.toFixed(0)} ms`,
    );
    expect(heap).toBeLessThan(HEAP_BYTES_MAX);
    expect(usage.backingStorageSize ?? 0).toBeGreaterThan(1_000_000);
    await page.close();
    await server.stop();
  });
});

/** 16 URLs with twelve series each, and ten more. A step is made of few templates, so that the test measures the page. */
function longRun(): { head: FixtureRecord[]; stepOf: (second: number) => FixtureRecord } {
  const names = Array.from({ length: 16 }, (_, index) => `http://shop.test/page/${index}`);
  const templates = makeRun({ seconds: 9, names, perSecond: 100, hasEnd: false, seed: 11 }).records;
  const steps = templates.filter((record) => record.event === "step");
  const head = templates.slice(0, 2);
  const plan = head[0]?.data as { plannedMs: number; scenarios: { planned: number[][] }[] };
  plan.plannedMs = SECONDS * 1_000;
  const random = generator(2);
  return {
    head,
    stepOf: (second) => {
      const template = steps[Math.floor(random() * steps.length)] as FixtureRecord;
      return {
        event: "step",
        data: { ...(template.data as object), fromMs: second * 1_000, untilMs: (second + STEP_SECONDS) * 1_000 },
      };
    },
  };
}
