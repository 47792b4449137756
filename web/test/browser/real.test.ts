// A real run with a page that watches it: what the page says at the end, what the report says and what the summary says are one.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytes, compact, count, percent, perSecond, plural, valueFormat } from "../../src/format/units.ts";
import { exitWords, measurementWords } from "../../src/format/words.ts";
import type { Verdict } from "../../src/stream/records.ts";
import { hasProgram, Running } from "../fixture/program.ts";
import { FixtureServer } from "../fixture/server.ts";
import { hasChromium, launch, openOffline } from "./chromium.ts";

const SCRIPT = fileURLToPath(new URL("../fixture/shop.js", import.meta.url));
/** What the page and its files are sent with. */
const HEADERS = ["content-security-policy", "content-type", "x-content-type-options"];
const CROSSED = 99;

interface Summary {
  metrics: Record<string, Record<string, number>>;
  root_group: { checks: Record<string, { passes: number; fails: number }> };
  measurement: { verdict: Verdict };
}

interface Answer {
  headers: (string | null)[];
  body: string;
}

describe.skipIf(!hasChromium || !hasProgram)("a real run", () => {
  const folder = mkdtempSync(join(tmpdir(), "onrush-run-"));
  const report = join(folder, "report.html");
  const errors: string[] = [];
  const real = new Map<string, Answer>();
  let browser: Browser;
  let target: Running | null = null;
  let run: Running | null = null;
  let page: Page;
  let site = "";
  let summary: Summary;

  beforeAll(async () => {
    browser = await launch();
    target = new Running(["target", "--listen", "127.0.0.1:0"], folder);
    site = await target.find(/target: (http:\S+)\s/);
    const outputs = ["--out", "web-dashboard=port=0", "--report", report, "--summary-export", "summary.json"];
    run = new Running(["run", "--address", "", ...outputs, "--env", `TARGET=${site}`, SCRIPT], folder);
    const url = await run.find(/web dashboard: (http:\S+)\s/);
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => errors.push(...(message.type() === "error" ? [message.text()] : [])));
    await page.goto(url);
    await page.waitForFunction(() => document.querySelector(".phase b")?.textContent === "Running");
    for (const path of PATHS) {
      real.set(path, await answerOf(new URL(path, url)));
    }
    await page.waitForSelector(".ending");
    expect(await run.ended, run.text).toBe(CROSSED);
    summary = JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"));
  });
  afterAll(async () => {
    await run?.stop();
    await target?.stop();
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  test("the page that watched it says what the summary says", async () => {
    await expectSummary(page, summary);
    expect(errors).toEqual([]);
  });

  test("so does its report from disk, offline", async () => {
    const { page, close } = await openOffline(browser, report);
    await page.waitForSelector(".ending");
    await expectSummary(page, summary);
    await close();
  });

  test("so does a report of its summary, without a course of the run", async () => {
    const file = join(folder, "of-summary.html");
    const made = new Running(["report", "summary.json", "-o", file], folder);
    expect(await made.ended, made.text).toBe(0);
    const { page, close } = await openOffline(browser, file);
    await page.waitForSelector("#summary");
    const verdicts = await page.locator(".verdicts").innerText();
    expect(verdicts).toContain("Thresholds crossed");
    expect(verdicts).toContain(measurementWords(summary.measurement.verdict).title);
    const checks = Object.entries(summary.root_group.checks).map(([name, of]) => [name, count(of.passes), count(of.fails)]);
    expect(await columnsOf(page, "Checks", ["Check", "Passed", "Failed"])).toEqual(checks.sort());
    const metrics = await columnsOf(page, "Metrics", ["Metric"]);
    expect(metrics.flat()).toEqual(Object.keys(summary.metrics).sort());
    await close();
  });

  test("the report of a run that was killed says that it was", async () => {
    const words = ["run", "--address", "", "--out", "result=killed.onrush", "--env", `TARGET=${site}`, SCRIPT];
    const killed = new Running(words, folder);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await killed.stop();
    const file = join(folder, "killed.html");
    const made = new Running(["report", "killed.onrush", "-o", file], folder);
    expect(await made.ended, made.text).toBe(0);
    const { page, close } = await openOffline(browser, file);
    await page.waitForSelector(".ending");
    expect(await page.locator(".phase").innerText()).toContain("Cut off");
    expect(await page.locator(".ending").innerText()).toMatch(/^Cut off: .* The data end at 0:0\d\.$/);
    await close();
  });

  // The other tests of the page are held to the policy of that server.
  test("the server that stands for it in other tests sends the same pages with the same policy", async () => {
    const server = new FixtureServer();
    const url = await server.start([]);
    for (const path of PATHS) {
      const [one, other] = [real.get(path), await answerOf(new URL(path, url))];
      expect(one?.headers, path).toEqual(other.headers);
      expect(
        one?.body === other.body,
        `${path} of the program is not that of crates/view/assets: build the program again`,
      ).toBe(true);
    }
    await server.stop();
  });
});

/** Every number of the page that the summary has, too. */
async function expectSummary(page: Page, { metrics, root_group, measurement }: Summary): Promise<void> {
  const of = (metric: string, value: string): number => metrics[metric]?.[value] ?? Number.NaN;
  const time = valueFormat("time");
  const duration = (value: string) => time(of("http_req_duration", value));
  const [failed, requests] = [of("http_req_failed", "passes"), of("http_reqs", "count")];
  const [passed, missed] = [of("checks", "passes"), of("checks", "fails")];
  // The script saw to that; without it the tiles would say less.
  expect([requests > 200, failed > 20, missed > 50]).toEqual([true, true, true]);
  const tiles = new Map<string, string[]>();
  for (const tile of await page.locator(".tile").all()) {
    const texts = await tile.locator("h3, p").allTextContents();
    tiles.set(texts[0] ?? "", texts.slice(1));
  }
  expect(tiles.get("Requests")).toEqual([perSecond(of("http_reqs", "rate")), `${count(requests)} in all`]);
  expect(tiles.get("Failed requests")).toEqual([
    percent(of("http_req_failed", "value")),
    `${count(failed)} of ${count(requests)}`,
  ]);
  expect(tiles.get("Response median")).toEqual([duration("med"), `average ${duration("avg")}`]);
  expect(tiles.get("Response p95")).toEqual([duration("p(95)"), `p99 ${duration("p(99)")}, max ${duration("max")}`]);
  expect(tiles.get("Iterations")).toEqual([perSecond(of("iterations", "rate")), `${count(of("iterations", "count"))} in all`]);
  expect(tiles.get("Checks that pass")).toEqual([
    percent(of("checks", "value")),
    `${plural(missed, "failure")} of ${count(passed + missed)}`,
  ]);
  expect(tiles.get("Data received")).toEqual([
    `${bytes(of("data_received", "rate"))}/s`,
    `${bytes(of("data_received", "count"))} in, ${bytes(of("data_sent", "count"))} out`,
  ]);
  const verdicts = await page.locator(".verdicts").innerText();
  expect(verdicts).toContain("Thresholds crossed");
  expect(verdicts).toContain(measurementWords(measurement.verdict).title);
  expect(verdicts).toContain(`exit code ${CROSSED}: ${exitWords(CROSSED)}`);

  const checks = Object.entries(root_group.checks).map(([name, { passes, fails }]) => [name, count(passes), count(fails)]);
  expect(await columnsOf(page, "Checks", ["Check", "Passed", "Failed"])).toEqual(checks.sort());

  const rows = Object.entries(metrics)
    .filter(([name]) => !name.includes("{"))
    .map(([name, values]) => [name, ...cellsOf(name, values)]);
  const shown = ["Metric", "Count", "Rate", "Average", "Min", "Median", "p90", "p95", "p99", "Max"];
  expect(await columnsOf(page, "All metrics", shown)).toEqual(rows.sort());
}

/** What the table of metrics says of one. */
function cellsOf(name: string, values: Record<string, number>): string[] {
  const [none, of] = ["–", (value: string) => values[value] ?? Number.NaN];
  const isBytes = name.startsWith("data_");
  if ("avg" in values) {
    const format = valueFormat(/^http_req_|_duration$/.test(name) ? "time" : "default");
    return [
      count(of("count")),
      none,
      ...["avg", "min", "med", "p(90)", "p(95)", "p(99)", "max"].map((value) => format(of(value))),
    ];
  }
  if ("passes" in values) {
    return [count(of("passes") + of("fails")), none, percent(of("value")), none, none, none, none, none, none];
  }
  if ("count" in values) {
    return [
      (isBytes ? bytes : count)(of("count")),
      `${(isBytes ? bytes : compact)(of("rate"))}/s`,
      none,
      none,
      none,
      none,
      none,
      none,
      none,
    ];
  }
  const format = valueFormat("default");
  return [none, none, format(of("value")), format(of("min")), none, none, none, none, format(of("max"))];
}

/** The texts of some columns of a table, a list for each row, sorted by the first. */
async function columnsOf(page: Page, caption: string, columns: string[]): Promise<string[][]> {
  const table = page.getByRole("region", { name: caption, exact: true });
  const names = (await table.locator("thead th").allTextContents()).map((text) => text.replace(/[▲▼]/g, ""));
  const rows: string[][] = [];
  for (const row of await table.locator("tbody tr").all()) {
    const cells = await row.locator("th, td").allTextContents();
    rows.push(columns.map((column) => cells[names.indexOf(column)] ?? `no column ${column}`));
  }
  return rows.sort();
}

async function answerOf(url: URL): Promise<Answer> {
  const response = await fetch(url);
  return { headers: HEADERS.map((name) => response.headers.get(name)), body: await response.text() };
}

const PATHS = ["/", "/app.js", "/app.css"];
