import { expect, test } from "vitest";
import { Model } from "../../src/model.ts";
import { comparable, plannedAt, plannedSum } from "../../src/store/plan.ts";
import { Query } from "../../src/store/query.ts";
import { checkRows, counterTotal, requestRows, secondsOf, spread } from "../../src/store/rows.ts";
import { Run } from "../../src/store/run.ts";
import { STEPS_MAX } from "../../src/store/steps.ts";
import { readSummary } from "../../src/store/summary.ts";
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
  // A step that is in it takes its place when there is news of the rest: nothing is less than it was.
  const step = (count: number, fromMs: number) =>
    take(run, "step", { fromMs, untilMs: fromMs + 1_000, values: [[id, count]], outcomes: [], lost: 0 });
  step(7, 20_000);
  expect(counterTotal(query.fold("iterations"))).toBe(before + 9);
  expect(run.measuredUntilMs).toBe(21_300);
  take(run, "open", { fromMs: 21_000, untilMs: 22_000, values: [[id, 4]], outcomes: [], lost: 0 });
  expect(counterTotal(query.fold("iterations"))).toBe(before + 11);
  expect(query.timeline("iterations", {}, null, 400, "sum", (fold) => counterTotal(fold)).at(-1)?.value).toBe(4);
  // One that is not in it takes its place at once.
  step(5, 21_000);
  expect(counterTotal(query.fold("iterations"))).toBe(before + 12);
  step(6, 22_000);
  expect(counterTotal(query.fold("iterations"))).toBe(before + 18);
  // At the end nothing waits, what has no time neither.
  open(1, 30_000);
  take(run, "step", { fromMs: null, untilMs: null, values: [[id, 2]], outcomes: [], lost: 0 });
  step(3, 23_000);
  expect(counterTotal(query.fold("iterations"))).toBe(before + 19);
  take(run, "end", { durationMs: 24_000, exitCode: 0 });
  expect(counterTotal(query.fold("iterations"))).toBe(before + 23);
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
  expect([model.unfiltered("http_reqs"), model.unfiltered("vus")]).toEqual([null, "Not filtered by name."]);
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
    // In the time of the run, as the plan of a scenario that begins later.
    planned: [
      [10_000, 0],
      [20_000, 100],
      [20_000, 50],
      [30_000, 50],
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

test("charts are compared with plans of their own kind, and only where all of what they show has one", () => {
  const one = (name: string, isRate: boolean, planned: [number, number][]) => {
    return { name, executor: "", description: "", startMs: 0, isRate, unit: "", planned };
  };
  const flat = (target: number): [number, number][] => [
    [0, target],
    [10_000, target],
  ];
  const [a, b, rate, none] = [
    one("a", false, flat(3)),
    one("b", false, flat(4)),
    one("r", true, flat(40)),
    one("n", false, []),
  ];
  const vus = comparable([a, b], false, {});
  expect(plannedSum(vus ?? [], 5_000)).toBe(7);
  expect(comparable([a, rate], false, {})).toBeNull();
  expect(comparable([a, rate], true, {})).toBeNull();
  expect(comparable([a, none], false, {})).toBeNull();
  expect(comparable([], true, {})).toBeNull();
  expect(comparable([a, rate], true, { scenario: "r" })).toEqual([rate]);
  expect(comparable([a, b, rate], false, { scenario: "b" })).toEqual([b]);
});

test("the last second ends with the run: rates are those of the summary, and charts do not fall at the end", () => {
  for (const hasStateOfTeardown of [false, true]) {
    const { run } = play({ seconds: 5, names: ["http://a/"], perSecond: 50, hasEnd: false });
    const query = new Query(run);
    const id = query.series("http_reqs")[0] ?? -1;
    const [setupMs, overMs, teardownMs] = [500, 5_060, hasStateOfTeardown ? 2_000 : 0];
    const rest = () => take(run, "step", { fromMs: 5_000, untilMs: 6_000, values: [[id, 3]], outcomes: [], lost: 0 });
    const state = (phase: string, atMs: number) => take(run, "state", { phase, atMs, elapsedMs: atMs + setupMs });
    state("running", 5_000);
    expect(secondsOf(query, null)).toBe(5.5);
    if (hasStateOfTeardown) {
      take(run, "open", { fromMs: 5_000, untilMs: 6_000, values: [[id, 3]], outcomes: [], lost: 0 });
      state("teardown", overMs);
      expect(run.measuredUntilMs).toBe(overMs);
      state("teardown", overMs + 1_000);
      expect(secondsOf(query, null)).toBe(6.56);
    }
    rest();
    state("done", overMs + teardownMs);
    take(run, "end", { durationMs: setupMs + overMs + teardownMs, exitCode: 0 });
    expect(run.measuredUntilMs).toBe(overMs);
    expect(secondsOf(query, null)).toBe((setupMs + overMs + teardownMs) / 1_000);
    const total = counterTotal(query.fold("http_reqs"));
    const [row] = requestRows(query, "name", null, {});
    expect(row?.perSecond).toBeCloseTo(total / ((setupMs + overMs + teardownMs) / 1_000), 9);
    const points = query.timeline("http_reqs", {}, null, 400, "rate", (fold, seconds) => counterTotal(fold) / seconds);
    expect(points.map((point) => [point.fromMs, point.untilMs])).toEqual([
      [0, 1_000],
      [1_000, 2_000],
      [2_000, 3_000],
      [3_000, 4_000],
      [4_000, overMs],
    ]);
    expect((points.at(-1)?.value ?? 0) / (points[0]?.value ?? 1)).toBeGreaterThan(0.75);
    // What is over the last second is part of a selection up to the end.
    const span = query.snapped({ fromMs: 3_000, untilMs: overMs });
    expect(span).toEqual({ fromMs: 3_000, untilMs: overMs });
    expect(secondsOf(query, span)).toBe(2.06);
    const last = counterTotal(query.fold("http_reqs", {}, { fromMs: 5_000, untilMs: overMs }));
    expect(last).toBe(3);
  }
});

test("what is open ends where a pause begins, and goes on after it", () => {
  const { run } = play({ seconds: 5, hasEnd: false });
  const id = new Query(run).series("iterations")[0] ?? -1;
  const open = () => take(run, "open", { fromMs: 5_000, untilMs: 6_000, values: [[id, 3]], outcomes: [], lost: 0 });
  open();
  take(run, "state", { phase: "running", paused: true, atMs: 5_300, elapsedMs: 5_300 });
  expect(run.measuredUntilMs).toBe(5_300);
  take(run, "state", { phase: "running", paused: false, atMs: 5_400, elapsedMs: 5_400 });
  open();
  expect(run.measuredUntilMs).toBe(6_000);
});

test("a summary has metrics, thresholds, checks and how long it took, in all its shapes", () => {
  const check = (name: string, passes: number, fails: number) => ({ name, passes, fails });
  const exported = {
    metrics: {
      iterations: { count: 40, rate: 2 },
      vus: { value: 1, min: 1, max: 4 },
      checks: { value: 0.75, passes: 3, fails: 1, thresholds: { "rate>0.9": true, "rate>0.5": false } },
    },
    root_group: { groups: { g: { name: "g", groups: {}, checks: { b: check("b", 1, 0) } } }, checks: { a: check("a", 2, 1) } },
    measurement: { verdict: "SUSPECT", reasons: ["timers fired late"], notes: [] },
  };
  const read = readSummary(exported);
  expect(read.metrics.map(({ name, values, isShare }) => [name, values.length, isShare])).toEqual([
    ["iterations", 2, false],
    ["vus", 3, false],
    ["checks", 3, true],
  ]);
  expect(read.thresholds.map(({ metric, source, isOk }) => [metric, source, isOk])).toEqual([
    ["checks", "rate>0.9", false],
    ["checks", "rate>0.5", true],
  ]);
  expect(read.checks).toEqual([
    { ...check("a", 2, 1), group: "" },
    { ...check("b", 1, 0), group: "::g" },
  ]);
  expect([read.durationMs, read.verdict, read.reasons]).toEqual([20_000, "SUSPECT", ["timers fired late"]]);
  const handled = readSummary({
    metrics: { checks: { type: "rate", values: { rate: 1, passes: 2, fails: 0 }, thresholds: { "rate>0.9": { ok: true } } } },
    root_group: { groups: [{ name: "g", groups: [], checks: [check("b", 2, 0)] }], checks: [] },
    state: { testRunDurationMs: 1_500 },
  });
  expect(handled.thresholds.map(({ isOk }) => isOk)).toEqual([true]);
  expect(handled.checks).toEqual([{ ...check("b", 2, 0), group: "::g" }]);
  expect([handled.durationMs, handled.verdict]).toEqual([1_500, null]);
  const nothing = { metrics: [], thresholds: [], checks: [], durationMs: null, verdict: null, reasons: [], notes: [] };
  expect(readSummary({})).toEqual(nothing);
  expect(readSummary({ metrics: 1, root_group: [], measurement: "x", state: 3 })).toEqual(nothing);
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
