// The records of docs/reference/view-stream.md, read with distrust: whatever has the wrong type becomes empty, and what cannot be
// read is left out. Texts in them come from scripts and servers; nothing here or later treats them as markup.

import type { Kind } from "../metrics/fold.ts";

export interface Scenario {
  name: string;
  executor: string;
  description: string;
  startMs: number;
  isRate: boolean;
  unit: string;
  planned: [number, number][];
}

export interface Metric {
  name: string;
  kind: Kind;
  contains: "default" | "time" | "data";
  isCustom: boolean;
}

export interface Head {
  view: number;
  onrush: string;
  mode: "live" | "report";
  script: string;
  startedMs: number | null;
  plannedMs: number | null;
  agents: number;
  isOpen: boolean;
  canSteer: boolean;
  scenarios: Scenario[];
  metrics: Metric[];
  thresholds: Record<string, string[]>;
}

export interface Series {
  id: number;
  metric: number;
  tags: Record<string, string>;
}

export interface Outcome {
  status: number | null;
  code: number | null;
  text: string;
  isInterrupted: boolean;
  count: number;
  example: string;
}

export interface Step {
  /** `null`: before or after the scenarios. */
  fromMs: number | null;
  untilMs: number | null;
  /** Pairs of a series and its value, not looked into yet. */
  values: [number, unknown][];
  outcomes: Outcome[];
  lost: number;
}

export interface AgentHealth {
  agent: number;
  cpuCores: number | null;
  availableCores: number | null;
  machineCores: number | null;
  rssBytes: number | null;
  openFiles: number | null;
  timerLagMs: number | null;
  runQueue: number | null;
  busiestThreadCores: number | null;
  memoryUsed: number | null;
  receivedBytes: number | null;
  sentBytes: number | null;
  retransmitted: number | null;
}

export interface Health {
  /** `null` where the stream does not say: a second before. */
  fromMs: number | null;
  atMs: number;
  agents: AgentHealth[];
}

export interface ScenarioState {
  name: string;
  isStarted: boolean;
  isOver: boolean;
  isStopping: boolean;
  vus: number;
  runningVus: number;
  maxVus: number;
  /** Per second where the scenario has a rate. */
  target: number | null;
  /** What the REST API takes: VUs, or a rate in `timeUnit`. */
  wanted: number | null;
  timeUnit: string;
  iterations: number;
  dropped: number;
  exceptions: number;
}

export interface ThresholdState {
  metric: string;
  source: string;
  isOk: boolean;
  isJudged: boolean;
  value: number | null;
}

export interface AgentState {
  agent: number;
  name: string;
  share: number | null;
  isLost: boolean;
  vus: number;
  iterations: number;
  requests: number;
  startLateMs: number | null;
  verdict: Verdict | null;
  reasons: string[];
}

export type Verdict = "VALID" | "SUSPECT" | "INVALID";

export interface State {
  atMs: number;
  elapsedMs: number;
  phase: string;
  isPaused: boolean;
  vusActive: number;
  vusInitialized: number;
  iterations: number;
  interrupted: number;
  dropped: number;
  scenarios: ScenarioState[];
  thresholds: ThresholdState[];
  verdict: Verdict | null;
  reasons: string[];
  notes: string[];
  agents: AgentState[];
}

export interface Log {
  /** Its number: a later record with it has the newer count. */
  line: number | null;
  firstMs: number | null;
  atMs: number | null;
  level: string;
  message: string;
  count: number;
  fields: Record<string, string>;
}

export interface End {
  durationMs: number;
  exitCode: number | null;
  stopped: string | null;
  verdict: Verdict | null;
  reasons: string[];
  notes: string[];
}

export type Message =
  | { event: "head"; data: Head }
  | { event: "series"; data: Series[] }
  | { event: "step"; data: Step }
  | { event: "open"; data: Step }
  | { event: "health"; data: Health }
  | { event: "state"; data: State }
  | { event: "log"; data: Log }
  | { event: "end"; data: End };

/** A record by its name and its object; `null` for those that nobody here knows. */
export function readRecord(event: string, data: unknown): Message | null {
  if (!isObject(data)) {
    return null;
  }
  switch (event) {
    case "head":
      return { event, data: head(data) };
    case "series":
      return { event, data: list(data.series, series).filter((one) => one.id >= 0 && one.metric >= 0) };
    case "step":
    case "open":
      return { event, data: step(data) };
    case "health":
      return { event, data: { fromMs: maybe(data.fromMs), atMs: number(data.atMs), agents: list(data.agents, agentHealth) } };
    case "state":
      return { event, data: state(data) };
    case "log":
      return { event, data: log(data) };
    case "end":
      return { event, data: end(data) };
    default:
      return null;
  }
}

function head(data: Loose): Head {
  const thresholds: Record<string, string[]> = Object.create(null);
  for (const [metric, sources] of Object.entries(isObject(data.thresholds) ? data.thresholds : {})) {
    thresholds[metric] = strings(sources);
  }
  return {
    view: number(data.view),
    onrush: text(data.onrush),
    mode: data.mode === "report" ? "report" : "live",
    script: text(data.script),
    startedMs: maybe(data.startedMs),
    plannedMs: maybe(data.plannedMs),
    agents: number(data.agents, 1),
    isOpen: data.isOpen === true,
    canSteer: data.canSteer === true,
    scenarios: list(data.scenarios, scenario),
    metrics: list(data.metrics, metric),
    thresholds,
  };
}

function scenario(data: Loose): Scenario {
  const planned = Array.isArray(data.planned) ? data.planned : [];
  return {
    name: text(data.name),
    executor: text(data.executor),
    description: text(data.description),
    startMs: number(data.startMs),
    isRate: data.isRate === true,
    unit: text(data.unit),
    planned: planned.filter(isPair),
  };
}

function metric(data: Loose): Metric {
  const kinds: readonly string[] = ["counter", "gauge", "rate", "trend"];
  return {
    name: text(data.name),
    kind: kinds.includes(text(data.kind)) ? (data.kind as Kind) : "counter",
    contains: data.contains === "time" || data.contains === "data" ? data.contains : "default",
    isCustom: data.custom === true,
  };
}

function series(data: Loose): Series {
  return { id: number(data.id, -1), metric: number(data.metric, -1), tags: texts(data.tags) };
}

function step(data: Loose): Step {
  const values = Array.isArray(data.values) ? data.values : [];
  return {
    fromMs: maybe(data.fromMs),
    untilMs: maybe(data.untilMs),
    values: values.filter((one): one is [number, unknown] => Array.isArray(one) && typeof one[0] === "number"),
    outcomes: list(data.outcomes, outcome),
    lost: number(data.lost),
  };
}

function outcome(data: Loose): Outcome {
  return {
    status: maybe(data.status),
    code: maybe(data.code),
    text: text(data.text),
    isInterrupted: data.interrupted === true,
    count: number(data.count),
    example: text(data.example),
  };
}

function agentHealth(data: Loose): AgentHealth {
  return {
    agent: number(data.agent),
    cpuCores: maybe(data.cpuCores),
    availableCores: maybe(data.availableCores),
    machineCores: maybe(data.machineCores),
    rssBytes: maybe(data.rssBytes),
    openFiles: maybe(data.openFiles),
    timerLagMs: maybe(data.timerLagMs),
    runQueue: maybe(data.runQueue),
    busiestThreadCores: maybe(data.busiestThreadCores),
    memoryUsed: maybe(data.memoryUsed),
    receivedBytes: maybe(data.receivedBytes),
    sentBytes: maybe(data.sentBytes),
    retransmitted: maybe(data.retransmitted),
  };
}

function state(data: Loose): State {
  return {
    atMs: number(data.atMs),
    elapsedMs: number(data.elapsedMs),
    phase: text(data.phase),
    isPaused: data.paused === true,
    vusActive: number(data.vusActive),
    vusInitialized: number(data.vusInitialized),
    iterations: number(data.iterations),
    interrupted: number(data.interrupted),
    dropped: number(data.dropped),
    scenarios: list(data.scenarios, scenarioState),
    thresholds: list(data.thresholds, thresholdState),
    verdict: verdict(data.verdict),
    reasons: strings(data.reasons),
    notes: strings(data.notes),
    agents: list(data.agents, agentState),
  };
}

function scenarioState(data: Loose): ScenarioState {
  return {
    name: text(data.name),
    isStarted: data.started === true,
    isOver: data.over === true,
    isStopping: data.stopping === true,
    vus: number(data.vus),
    runningVus: number(data.runningVus),
    maxVus: number(data.maxVus),
    target: maybe(data.target),
    wanted: maybe(data.wanted),
    timeUnit: text(data.timeUnit),
    iterations: number(data.iterations),
    dropped: number(data.dropped),
    exceptions: number(data.exceptions),
  };
}

function thresholdState(data: Loose): ThresholdState {
  return {
    metric: text(data.metric),
    source: text(data.source),
    isOk: data.ok === true,
    isJudged: data.judged !== false,
    value: maybe(data.value),
  };
}

function agentState(data: Loose): AgentState {
  return {
    agent: number(data.agent),
    name: text(data.name),
    share: maybe(data.share),
    isLost: data.lost === true,
    vus: number(data.vus),
    iterations: number(data.iterations),
    requests: number(data.requests),
    startLateMs: maybe(data.startLateMs),
    verdict: verdict(data.verdict),
    reasons: strings(data.reasons),
  };
}

function log(data: Loose): Log {
  return {
    line: maybe(data.line),
    firstMs: maybe(data.firstMs),
    atMs: maybe(data.atMs),
    level: text(data.level),
    message: text(data.message),
    count: number(data.count, 1),
    fields: texts(data.fields),
  };
}

function end(data: Loose): End {
  return {
    durationMs: number(data.durationMs),
    exitCode: maybe(data.exitCode),
    stopped: typeof data.stopped === "string" ? data.stopped : null,
    verdict: verdict(data.verdict),
    reasons: strings(data.reasons),
    notes: strings(data.notes),
  };
}

type Loose = Record<string, unknown>;

export function isObject(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function number(value: unknown, otherwise = 0): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

function maybe(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A list of texts; those of a summary's remarks are objects with a `text`. */
export function strings(value: unknown): string[] {
  return Array.isArray(value)
    ? value.map((one) => (isObject(one) ? text(one.text) : text(one))).filter((one) => one !== "")
    : [];
}

/** Tags and fields; whatever is no text is shown as JSON. */
function texts(value: unknown): Record<string, string> {
  // Without a prototype: `__proto__` is a name like any other.
  const pairs: Record<string, string> = Object.create(null);
  for (const [key, one] of Object.entries(isObject(value) ? value : {})) {
    pairs[key] = typeof one === "string" ? one : JSON.stringify(one);
  }
  return pairs;
}

function list<T>(value: unknown, read: (data: Loose) => T): T[] {
  return Array.isArray(value) ? value.filter(isObject).map(read) : [];
}

function isPair(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === "number" && Number.isFinite(one));
}

export function verdict(value: unknown): Verdict | null {
  return value === "VALID" || value === "SUSPECT" || value === "INVALID" ? value : null;
}
