import { expect, test } from "vitest";
import { Model } from "../../src/model.ts";
import { plannedAt } from "../../src/store/plan.ts";
import { Query } from "../../src/store/query.ts";
import { checkRows, counterTotal, requestRows, spread } from "../../src/store/rows.ts";
import { Run } from "../../src/store/run.ts";
import { STEPS_MAX } from "../../src/store/steps.ts";
import { readRecord } from "../../src/stream/records.ts";
import { type FixtureOptions, type FixtureRecord, makeRun, percentileOf } from "../fixture/run.ts";

test("numbers of the whole run and of a part of it are those of the single values", () => {
  const { run, truth } = play({ seconds: 120, perSecond: 90 });
  const query = new Query(run);
  for (const span of [null, { fromMs: 30_000, untilMs: 61_000 }]) {
    const rows = requestRows(query, "name", span, {});
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      const values = (truth.durations.get(row.key) ?? [])
        .slice((span?.fromMs ?? 0) / 1_000, (span?.untilMs ?? 120_000) / 1_000)
        .flat();
      const failures = (truth.failures.get(row.key) ?? [])
        .slice((span?.fromMs ?? 0) / 1_000, (span?.untilMs ?? 120_000) / 1_000)
        .reduce((a, b) => a + b, 0);
      expect(row.requests).toBe(values.length);
      expect(row.failed).toBe(failures / values.length);
      expect(row.min).toBe(Math.min(...values));
      expect(row.max).toBe(Math.max(...values));
      expect(row.mean).toBeCloseTo(values.reduce((a, b) => a + b, 0) / values.length, 9);
      for (const [q, shown] of [
        [0.5, row.med],
        [0.9, row.p90],
        [0.95, row.p95],
        [0.99, row.p99],
      ] as const) {
        expect(Math.abs(shown / percentileOf(values, q) - 1)).toBeLessThan(0.002_8);
      }
    }
  }
});

test("joining old steps changes no sum and no percentile", () => {
  const { run, truth, records } = play({ seconds: STEPS_MAX + 400, names: ["http://a/"], perSecond: 8 });
  expect(run.steps.steps.length).toBeLessThanOrEqual(STEPS_MAX);
  const query = new Query(run);
  const values = [...truth.durations.values()].flat(2);
  const whole = spread(query.fold("http_req_duration"));
  const joined = spread(query.foldOf("trend", query.series("http_req_duration"), { fromMs: 0, untilMs: 1e9 }));
  expect(joined.count).toBe(values.length);
  expect({ ...joined, mean: 0 }).toEqual({ ...whole, mean: 0 });
  expect(joined.mean).toBeCloseTo(whole.mean, 9);
  // Steps lie side by side still, and the latest are as they came.
  let until = 0;
  for (const step of run.steps.steps) {
    expect(step.fromMs).toBe(until);
    until = step.untilMs;
  }
  expect(until).toBe((STEPS_MAX + 400) * 1_000);
  const last = run.steps.steps.at(-1);
  expect((last?.untilMs ?? 0) - (last?.fromMs ?? 0)).toBe(1_000);
  expect(records.length).toBeGreaterThan(STEPS_MAX);
});

test("bytes are bounded, too", () => {
  const run = new Run();
  Object.assign(run.steps, { bytesMax: 200_000 });
  feed(run, makeRun({ seconds: 300, perSecond: 20 }).records);
  expect(run.steps.bytes).toBeLessThanOrEqual(200_000);
  expect(run.steps.steps.length).toBeGreaterThan(10);
});

test("the open step is in all numbers, and is replaced", () => {
  const { run } = play({ seconds: 20, hasEnd: false });
  const query = new Query(run);
  const id = query.series("iterations")[0] ?? -1;
  const before = counterTotal(query.fold("iterations"));
  const open = (count: number, untilMs: number) =>
    take(run, "open", { fromMs: 20_000, untilMs, values: [[id, count]], outcomes: [], lost: 0 });
  open(5, 20_500);
  expect(counterTotal(query.fold("iterations"))).toBe(before + 5);
  open(9, 21_300);
  expect(counterTotal(query.fold("iterations"))).toBe(before + 9);
  expect(query.timeline("iterations", {}, null, 400, "sum", (fold) => counterTotal(fold)).at(-1)?.value).toBe(9);
  take(run, "step", { fromMs: 20_000, untilMs: 21_000, values: [[id, 7]], outcomes: [], lost: 0 });
  expect(counterTotal(query.fold("iterations"))).toBe(before + 7);
  expect(query.timeline("iterations", {}, null, 400, "sum", (fold) => counterTotal(fold)).at(-1)?.value).toBe(7);
});

test("what was measured around the scenarios counts, and has no place in time", () => {
  const { run } = play({ seconds: 20, hasEnd: false });
  const query = new Query(run);
  const id = query.series("iterations")[0] ?? -1;
  const before = counterTotal(query.fold("iterations"));
  take(run, "step", { fromMs: null, untilMs: null, values: [[id, 3]], outcomes: [], lost: 0 });
  expect(counterTotal(query.fold("iterations"))).toBe(before + 3);
  expect(counterTotal(query.fold("iterations", {}, { fromMs: 0, untilMs: 20_000 }))).toBe(before);
});

test("a chart has at most so many points, and they add up", () => {
  const { run } = play({ seconds: 1_000, names: ["http://a/"] });
  const query = new Query(run);
  for (const pointsMax of [50, 360, 2_000]) {
    const points = query.timeline("http_reqs", {}, null, pointsMax, `sum ${pointsMax}`, (fold) => counterTotal(fold));
    expect(points.length).toBeLessThanOrEqual(pointsMax + 1);
    expect(points.reduce((sum, point) => sum + point.value, 0)).toBe(counterTotal(query.fold("http_reqs")));
  }
});

test("a new head begins anew; unknown records, series and kinds are passed over", () => {
  const { run, records } = play({ seconds: 20 });
  const total = counterTotal(new Query(run).fold("http_reqs"));
  expect(readRecord("tomorrow", {})).toBeNull();
  expect(readRecord("step", 7)).toBeNull();
  take(run, "step", {
    fromMs: 20_000,
    untilMs: 21_000,
    values: [[99_999, 1], [0, "x"], ["a", 1], null],
    outcomes: "no",
    lost: null,
  });
  expect(run.unread).toBe(2);
  expect(counterTotal(new Query(run).fold("http_reqs"))).toBe(total);
  feed(run, records);
  expect(counterTotal(new Query(run).fold("http_reqs"))).toBe(total);
  expect(run.unread).toBe(0);
});

test("names of the language are names like any other", () => {
  const run = new Run();
  take(run, "head", {
    metrics: [
      { name: "__proto__", kind: "counter" },
      { name: "constructor", kind: "counter" },
    ],
    thresholds: JSON.parse('{"__proto__": ["count>1"]}'),
  });
  take(run, "series", JSON.parse('{"series": [{"id": 0, "metric": 0, "tags": {"__proto__": "x", "toString": "y"}}]}'));
  take(run, "step", { fromMs: 0, untilMs: 1_000, values: [[0, 4]], outcomes: [], lost: 0 });
  expect(counterTotal(new Query(run).fold("__proto__", JSON.parse('{"__proto__": "x"}')))).toBe(4);
  expect(run.seriesOf("hasOwnProperty")).toEqual([]);
});

test("a selection snaps to whole steps; checks have their groups; a focus narrows what has its tag", () => {
  const model = new Model("dashboard");
  const { records } = makeRun({ seconds: 60, hasEnd: false });
  model.take(messages(records));
  model.apply();
  model.select({ fromMs: 10_400, untilMs: 19_700 });
  expect(model.span.value).toEqual({ fromMs: 10_000, untilMs: 20_000 });
  expect(checkRows(model.query, model.span.value, {}).map((row) => row.group)).toEqual(["::checkout", "::checkout"]);
  model.toggleFocus("name", "http://shop.test/");
  expect(model.focusOf("http_reqs")).toEqual({ name: "http://shop.test/" });
  expect(model.focusOf("vus")).toEqual({});
  model.toggleFocus("name", "http://shop.test/");
  expect(model.focus.value).toEqual({});
  model.range.value = { kind: "last", ms: 20_000 };
  expect(model.span.value).toEqual({ fromMs: 40_000, untilMs: 60_000 });
});

test("the plan between its points", () => {
  const scenario = {
    name: "a",
    executor: "",
    description: "",
    startMs: 10_000,
    isRate: false,
    unit: "VUs",
    planned: [
      [0, 0],
      [10_000, 100],
      [10_000, 50],
      [20_000, 50],
    ] as [number, number][],
  };
  expect([5_000, 10_000, 15_000, 20_000, 25_000, 31_000].map((at) => plannedAt(scenario, at))).toEqual([
    null,
    0,
    50,
    50,
    50,
    null,
  ]);
});

function play(options: FixtureOptions) {
  const made = makeRun(options);
  const run = new Run();
  feed(run, made.records);
  return { run, ...made };
}

function feed(run: Run, records: FixtureRecord[]): void {
  for (const message of messages(records)) {
    run.take(message);
  }
}

function messages(records: FixtureRecord[]) {
  // Through text, as a stream has it.
  return records.flatMap((record) => readRecord(record.event, JSON.parse(JSON.stringify(record.data))) ?? []);
}

function take(run: Run, event: string, data: unknown): void {
  const message = readRecord(event, data);
  expect(message).not.toBeNull();
  if (message !== null) {
    run.take(message);
  }
}
