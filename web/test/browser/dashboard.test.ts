// The built dashboard in a real browser, against a server that replays a run.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { count, percent, time } from "../../src/format/units.ts";
import { type FixtureRecord, makeRun, percentileOf, type Truth } from "../fixture/run.ts";
import { FixtureServer } from "../fixture/server.ts";
import { expectAccessible } from "./axe.ts";
import { hasChromium, launch } from "./chromium.ts";

describe.skipIf(!hasChromium)("the dashboard", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  /** A page with a server of its own; fails on any error of the page, and on anything that its policy forbids. */
  async function opened(records: FixtureRecord[], options: Parameters<Browser["newPage"]>[0] = {}) {
    const server = new FixtureServer();
    const url = await server.start(records);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => {
      // A server that is away is the subject of a test.
      if (message.type() === "error" && !/ERR_|401|400/.test(message.text())) {
        errors.push(message.text());
      }
    });
    page.on("dialog", (dialog) => {
      errors.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(url);
    await page.waitForSelector(".tile");
    const close = async () => {
      await page.close();
      await server.stop();
      expect(errors).toEqual([]);
    };
    return { server, page, url, close };
  }

  test("shows the numbers that are true of the run, whole and in part", async () => {
    const { records, truth } = makeRun({ seconds: 90, perSecond: 10, hasEnd: false });
    const { page, close } = await opened(records);
    await expectRows(page, truth, 0, 90);
    // Keys on the strip's handles: the beginning ten seconds later, twice.
    const handle = page.getByRole("slider", { name: "Beginning of the selected time" });
    await handle.focus();
    await handle.press("Shift+ArrowRight");
    await handle.press("Shift+ArrowRight");
    await page.waitForFunction(() => document.querySelector(".selected b")?.textContent?.includes("0:20"));
    await expectRows(page, truth, 20, 90);
    await page.keyboard.press("Escape");
    await expectRows(page, truth, 0, 90);
    await close();
  });

  test("dragging on a chart selects a part of the run", async () => {
    const { records, truth } = makeRun({ seconds: 60, perSecond: 6, hasEnd: false });
    const { page, close } = await opened(records);
    const chart = page.locator(".u-over").first();
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    expect(box).not.toBeNull();
    if (box !== null) {
      await page.mouse.move(box.x + box.width / 4, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2, box.y + 60, { steps: 5 });
      await page.mouse.up();
    }
    const text = (await page.locator(".selected b").textContent()) ?? "";
    const [from, until] = [...text.matchAll(/(\d+):(\d\d)/g)].map(([, minutes, s]) => Number(minutes) * 60 + Number(s));
    expect(Math.abs((from ?? 0) - 15)).toBeLessThanOrEqual(1);
    expect(Math.abs((until ?? 0) - 30)).toBeLessThanOrEqual(1);
    await expectRows(page, truth, from ?? 0, until ?? 0);
    await close();
  });

  test("comes back when the server was away, and misses nothing", async () => {
    const { records, truth } = makeRun({ seconds: 40, perSecond: 5, hasEnd: false });
    const cut = records.findIndex((record) => record.event === "step" && (record.data as { fromMs: number }).fromMs === 20_000);
    const { page, server, close } = await opened(records.slice(0, cut));
    await expectRows(page, truth, 0, 20);
    const sent = await server.stop();
    await page.waitForSelector(".banner-warn");
    expect(await page.locator(".banner-warn").textContent()).toContain("connection to the test is lost");
    await server.start(sent);
    server.send(records.slice(cut));
    await page.waitForSelector(".banner-warn", { state: "detached" });
    await page.waitForFunction(
      (all) => document.querySelector("[aria-label='Requests by url'] tbody")?.textContent?.includes(all),
      count(requestsOf(truth, 0, 40)[0] ?? 0),
    );
    await expectRows(page, truth, 0, 40);
    expect(server.lastIds[0]).toBeNull();
    expect(server.lastIds.at(-1)).toBe(String(sent.length));
    await close();
  });

  test("texts of scripts and servers stay texts", async () => {
    const evil = `<img src=x onerror=alert(1)><script>alert(2)</script>"'\`{{7*7}}</script>`;
    const { records } = makeRun({ seconds: 20, hasEnd: false, evil });
    const { page, close } = await opened(records);
    await page.getByRole("button", { name: "http://shop.test/", exact: false }).first().click();
    for (const part of ["load", "latency", "requests", "checks", "scenarios", "metrics", "generator", "messages"]) {
      await page.locator(`#${part}`).scrollIntoViewIfNeeded();
    }
    expect(await page.locator("main img, main script, header img").count()).toBe(0);
    // It is there, and as it was written.
    const text = await page.locator("body").innerText();
    expect(text.split(evil).length - 1).toBeGreaterThan(8);
    await close();
  });

  test("steers: pauses, changes a target, asks before it stops, and says what was refused", async () => {
    const { records } = makeRun({ seconds: 20, hasEnd: false, executor: "externally-controlled" });
    const { page, server, close } = await opened(records);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("spinbutton").fill("70");
    server.refusal = null;
    await expect.poll(() => server.calls.length).toBe(1);
    await page.getByRole("button", { name: "Apply" }).click();
    await expect.poll(() => server.calls.length).toBe(2);
    await expect.poll(() => page.locator(".target [role=status]").textContent()).toContain("70 VUs");
    server.refusal = "more than maxVUs";
    await page.getByRole("spinbutton").fill("9999");
    await page.getByRole("button", { name: "Apply" }).click();
    await expect.poll(() => page.locator(".target [role=status]").textContent()).toContain("more than maxVUs");
    await page.getByRole("button", { name: "Stop…" }).click();
    await page.getByRole("button", { name: "Keep running" }).click();
    expect(server.calls).toHaveLength(3);
    await page.getByRole("button", { name: "Stop…" }).click();
    await page.getByRole("button", { name: "Stop the test" }).click();
    await expect.poll(() => server.calls.length).toBe(4);
    expect(server.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "PATCH /v1/status",
      "PATCH /v1/scenarios/shoppers",
      "PATCH /v1/scenarios/shoppers",
      "PATCH /v1/status",
    ]);
    expect(server.calls.map(({ body }) => JSON.parse(body).data.attributes)).toEqual([
      { paused: true },
      { vus: 70 },
      { vus: 9_999 },
      { stopped: true },
    ]);
    await close();
  });

  test("offers a pause where one is possible: before the start, or of scenarios that can stand still", async () => {
    const { records } = makeRun({ seconds: 20, hasEnd: false });
    const { page, server, close } = await opened(records.slice(0, 2));
    const pause = page.getByRole("button", { name: "Pause" });
    const state = (phase: string, paused = false) => server.send([{ event: "state", data: { phase, paused } }]);
    state("initializing");
    await expect.poll(() => pause.count()).toBe(1);
    state("running");
    await expect.poll(() => pause.count()).toBe(0);
    expect(await page.getByRole("button", { name: "Stop…" }).count()).toBe(1);
    state("paused", true);
    await page.getByRole("button", { name: "Resume" }).click();
    await expect.poll(() => server.calls.map(({ body }) => JSON.parse(body).data.attributes)).toEqual([{ paused: false }]);
    await close();
  });

  test("asks for the token where one is needed, and sends it", async () => {
    const { records } = makeRun({ seconds: 12, hasEnd: false, executor: "externally-controlled" });
    const server = new FixtureServer();
    server.token = "a-token-of-a-test";
    const page = await browser.newPage();
    await page.goto(await server.start(records));
    await page.getByLabel("This test asks for its token").fill(server.token);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.waitForSelector(".tile");
    await page.getByRole("button", { name: "Pause" }).click();
    await expect.poll(() => server.calls[0]?.token).toBe(server.token);
    await page.close();
    await server.stop();
  });

  test("sorts and filters tables, and narrows the page to a row", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `http://shop.test/${index}`);
    const { records, truth } = makeRun({ seconds: 20, names, hasEnd: false });
    const { page, close } = await opened(records);
    const table = page.getByRole("region", { name: "Requests by url" });
    await table.getByRole("button", { name: "Average" }).click();
    const averages = async () =>
      (await table.locator("tbody td:nth-child(5)").allTextContents()).map((text) => Number.parseFloat(text));
    const falling = await averages();
    expect(falling).toEqual([...falling].sort((a, b) => b - a));
    await table.getByRole("button", { name: "Average" }).click();
    expect(await averages()).toEqual([...falling].reverse());
    expect(await table.locator("th[aria-sort=ascending]").textContent()).toContain("Average");
    await page.getByLabel("Filter").first().fill("/3");
    expect(await table.locator("tbody tr").count()).toBe(1);
    await table.getByRole("button", { name: "http://shop.test/3" }).click();
    const requests = (truth.durations.get("http://shop.test/3") ?? []).flat().length;
    expect(await page.locator(".tile").first().textContent()).toContain(`${count(requests)} in all`);
    // What has no such tag says so.
    const unfiltered = page.locator(".tile", { has: page.locator(".tile-unfiltered") });
    expect(await unfiltered.locator("h3").allTextContents()).toEqual([
      "Iterations",
      "Checks that pass",
      "Data received",
      "Active VUs",
    ]);
    expect(await unfiltered.first().innerText()).toContain("Not filtered by name.");
    expect(await page.locator("#checks .note").innerText()).toBe("Not filtered by name.");
    await page.getByRole("button", { name: "Remove the filter" }).click();
    expect(await page.locator(".chip, .tile-unfiltered").count()).toBe(0);
    // The whole row is there to be clicked.
    await table.locator("tbody tr td").first().click();
    expect(await page.locator(".chip").innerText()).toContain("http://shop.test/3");
    await table.locator("tbody tr td").first().click();
    expect(await page.locator(".chip").count()).toBe(0);
    await close();
  });

  test("scenarios count what the rest of the page counts, which says until when that is", async () => {
    const { records } = makeRun({ seconds: 12, hasEnd: false });
    const { page, server, close } = await opened(records);
    const head = records[0]?.data as { metrics: { name: string }[] };
    const metric = head.metrics.findIndex(({ name }) => name === "iterations");
    const ids = records.flatMap(({ event, data }) =>
      event === "series" ? (data as { series: { id: number }[] }).series.map(({ id }) => id) : [],
    );
    const id = Math.max(...ids) + 1;
    const state = records.findLast(({ event }) => event === "state")?.data as Record<string, unknown>;
    server.send([
      { event: "state", data: { ...state, atMs: 13_900, elapsedMs: 13_900 } },
      { event: "series", data: { series: [{ id, metric, tags: { scenario: "shoppers" } }] } },
      { event: "step", data: { fromMs: 12_000, untilMs: 13_000, values: [[id, 42]], outcomes: [], lost: 0 } },
    ]);
    await expect.poll(() => page.locator(".measured").innerText()).toContain("Measured until 0:13;");
    const facts = (await page.locator(".scenario dl").innerText()).replaceAll(/\s+/g, " ");
    expect(facts).toContain("Iterations 42");
    await close();
  });

  test("VUs and iterations have a plan beside them only where all of it is of their kind", async () => {
    const { records } = makeRun({ seconds: 20, hasEnd: false });
    const { page, server, close } = await opened(records);
    const chart = (title: string) => page.locator("figure", { has: page.locator(".plot-title", { hasText: title }) });
    const [vus, iterations] = [chart("Virtual users"), chart("Iterations per second")];
    await expect.poll(() => vus.innerText()).toContain("planned");
    const head = records[0]?.data as { scenarios: Record<string, unknown>[] };
    const orders = { ...head.scenarios[0], name: "orders", executor: "constant-arrival-rate", isRate: true };
    server.forget();
    server.send([{ event: "head", data: { ...head, scenarios: [...head.scenarios, orders] } }, ...records.slice(1)]);
    await expect.poll(() => vus.innerText()).toContain("No plan beside it: some scenarios plan iterations per second");
    expect(await vus.locator(".legend").innerText()).not.toContain("planned");
    expect(await iterations.innerText()).toContain("No plan beside it: some scenarios plan VUs");
    expect(await iterations.innerText()).not.toContain("planned starts");
    await close();
  });

  test("the heatmap is read with the arrow keys", async () => {
    const { records, truth } = makeRun({ seconds: 20, perSecond: 4, hasEnd: false });
    const { page, close } = await opened(records);
    const canvas = page.locator("canvas.heat");
    await canvas.scrollIntoViewIfNeeded();
    await canvas.focus();
    await canvas.press("ArrowLeft");
    const text = (await page.locator("#heat-cell").textContent()) ?? "";
    const second = [...truth.durations.values()].reduce((sum, list) => sum + (list[18]?.length ?? 0), 0);
    expect(text).toMatch(/^0:18–0:19, /);
    expect(text).toContain(`of ${second} (`);
    await close();
  });

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 360],
    ["dark", 360],
  ] as const)("axe finds nothing serious: %s, %i pixels", async (colorScheme, width) => {
    const { page, close } = await opened(makeRun({ seconds: 30, agents: 2, hasEnd: false }).records, {
      colorScheme,
      viewport: { width, height: 900 },
    });
    await page.locator(".data summary").first().click();
    await expectAccessible(page);
    await close();
  });

  test("a run that has not begun, and one of two seconds", async () => {
    const { records } = makeRun({ seconds: 2, hasEnd: false });
    const { page, server, close } = await opened([...records.slice(0, 2)]);
    expect(await page.locator("main").innerText()).toContain("Thresholds not judged yet");
    expect(await page.locator("main").innerText()).toContain("No HTTP requests");
    server.send(records.slice(2));
    await page.waitForFunction(() => document.querySelector("[aria-label='Requests by url'] tbody tr") !== null);
    expect(await page.locator("main").innerText()).not.toContain("NaN");
    server.send([
      {
        event: "end",
        data: { durationMs: 2_100, exitCode: 0, stopped: null, verdict: "SUSPECT", reasons: ["timers fired late"], notes: [] },
      },
    ]);
    await page.waitForSelector(".ending");
    expect(await page.locator(".verdicts").innerText()).toMatch(/Measurement suspect[\s\S]*timers fired late/);
    // It is over: nobody is asked again.
    await page.waitForTimeout(1_500);
    expect(server.lastIds).toHaveLength(1);
    await close();
  });
});

/** The table of URLs says what the single values say. */
async function expectRows(page: Page, truth: Truth, from: number, until: number): Promise<void> {
  for (const [name, seconds] of truth.durations) {
    const values = seconds.slice(from, until).flat();
    const failures = (truth.failures.get(name) ?? []).slice(from, until).reduce((a, b) => a + b, 0);
    const row = page.getByRole("row", { name: new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")} `) }).first();
    await row.waitFor();
    const cells = await row.getByRole("cell").allTextContents();
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    expect([cells[0], cells[2], cells[3], cells[4], cells[9]]).toEqual([
      count(values.length),
      percent(failures / values.length),
      time(mean),
      time(Math.min(...values)),
      time(Math.max(...values)),
    ]);
    for (const [place, q] of [
      [5, 0.5],
      [6, 0.9],
      [7, 0.95],
      [8, 0.99],
    ] as const) {
      const truthMs = percentileOf(values, q);
      // Three digits, and a bucket.
      expect(Math.abs(msOf(cells[place] ?? "") / truthMs - 1), `${name} p${q}`).toBeLessThan(0.009);
    }
  }
}

function msOf(text: string): number {
  const [number = "", unit] = text.split(" ");
  return Number(number) * (unit === "s" ? 1_000 : unit === "µs" ? 0.001 : 1);
}

function requestsOf(truth: Truth, from: number, until: number): number[] {
  return [...truth.durations.values()].map((seconds) => seconds.slice(from, until).flat().length);
}
