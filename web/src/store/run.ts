// A run as its stream has told it so far. Plain data; `live.ts` says when it changed.

import { emptyFold, type Fold, type Kind } from "../metrics/fold.ts";
import type { End, Head, Message, Metric, Outcome, Series, State, Step } from "../stream/records.ts";
import { HealthStore } from "./health.ts";
import { LogStore } from "./logs.ts";
import { OutcomeStore } from "./outcomes.ts";
import { addAll, type PackedStep, pack, StepStore } from "./steps.ts";

/** The program's own limit of series is 100,000; what calls more by number is no stream of ours. */
const SERIES_MAX = 200_000;

export class Run {
  head: Head | null = null;
  state: State | null = null;
  end: End | null = null;
  readonly series: (Series | undefined)[] = [];
  /** Series by metric. */
  readonly ofMetric: number[][] = [];
  /** The whole run without the open step, by series. */
  readonly totals: (Fold | undefined)[] = [];
  readonly steps = new StepStore((id) => this.kindOf(id));
  readonly health = new HealthStore();
  readonly outcomes = new OutcomeStore();
  readonly logs = new LogStore();
  /** What was measured since the last step. */
  open: PackedStep | null = null;
  openOutcomes: Outcome[] = [];
  /** Steps that are in what is open, and take its place with the next news of that: without it the page would go back in time. */
  private waiting: Step[] = [];
  /** Grows with each change of the series. */
  seriesRevision = 0;
  lost = 0;
  /** Values that could not be read. */
  unread = 0;
  private metricsByName = new Map<string, number>();
  /** When the scenarios were over at the latest, in their time; `null` before. */
  private scenariosEndMs: number | null = null;

  take(message: Message): void {
    switch (message.event) {
      case "head":
        this.reset();
        this.head = message.data;
        this.metricsByName = new Map(message.data.metrics.map((metric, place) => [metric.name, place]));
        break;
      case "series":
        message.data.forEach((series) => {
          this.addSeries(series);
        });
        break;
      case "step":
        if (this.isOpen(message.data)) {
          this.waiting.push(message.data);
        } else {
          this.addWaiting();
          this.addStep(message.data);
        }
        break;
      case "open":
        this.addWaiting();
        this.open = this.packed(message.data);
        this.openOutcomes = message.data.outcomes;
        this.trim();
        break;
      case "health":
        this.health.add(message.data);
        break;
      case "state":
        this.state = message.data;
        this.trim();
        break;
      case "log":
        this.logs.add(message.data);
        break;
      case "end":
        this.addWaiting();
        this.end = message.data;
        this.open = null;
        this.openOutcomes = [];
        this.trim();
        break;
    }
  }

  metric(name: string): Metric | null {
    const place = this.metricsByName.get(name);
    return place === undefined ? null : (this.head?.metrics[place] ?? null);
  }

  seriesOf(name: string): readonly number[] {
    const place = this.metricsByName.get(name);
    return place === undefined ? [] : (this.ofMetric[place] ?? []);
  }

  kindOf(id: number): Kind | null {
    const series = this.series[id];
    return series === undefined ? null : (this.head?.metrics[series.metric]?.kind ?? null);
  }

  /** All of the run that has a time: the scenarios so far. */
  get measuredUntilMs(): number {
    return Math.max(this.open?.untilMs ?? 0, this.steps.steps.at(-1)?.untilMs ?? 0);
  }

  /** The run broke off: nothing says how it ended. */
  get isCutOff(): boolean {
    return this.end !== null && this.end.exitCode === null;
  }

  /** How long the whole run took so far, setup and teardown included: what the rates of its summary are divided by. */
  get testMs(): number {
    if (this.end !== null) {
      return this.end.durationMs;
    }
    // What was measured is a little older than the state.
    return isPastScenarios(this.state) ? this.state.elapsedMs : this.setupMs + this.measuredUntilMs;
  }

  get isEmpty(): boolean {
    return this.steps.steps.length === 0 && this.open === null && this.totals.length === 0;
  }

  private reset(): void {
    this.head = null;
    this.state = null;
    this.end = null;
    this.scenariosEndMs = null;
    this.series.length = 0;
    this.ofMetric.length = 0;
    this.totals.length = 0;
    this.steps.clear();
    this.health.clear();
    this.outcomes.clear();
    this.logs.clear();
    this.open = null;
    this.openOutcomes = [];
    this.waiting = [];
    this.lost = 0;
    this.unread = 0;
    this.seriesRevision += 1;
  }

  private addSeries(series: Series): void {
    if (series.id >= SERIES_MAX || !Number.isInteger(series.id) || this.series[series.id] !== undefined) {
      return;
    }
    this.series[series.id] = series;
    this.ofMetric[series.metric] ??= [];
    this.ofMetric[series.metric]?.push(series.id);
    this.seriesRevision += 1;
  }

  /** Whether all of a step is in what is open, and something behind it, too. */
  private isOpen(step: Step): boolean {
    const { open } = this;
    if (open === null || step.fromMs === null || step.untilMs === null) {
      // What was measured before the scenarios comes before their first step, and is open with it.
      return open !== null;
    }
    return open.fromMs <= step.fromMs && step.untilMs < open.untilMs;
  }

  private addWaiting(): void {
    for (const step of this.waiting.splice(0)) {
      this.addStep(step);
    }
  }

  private addStep(step: Step): void {
    const packed = this.packed(step);
    this.open = null;
    this.openOutcomes = [];
    addAll(packed, (id) => this.total(id));
    this.outcomes.add(step.outcomes, step.fromMs, step.untilMs);
    this.lost += step.lost;
    // What was measured around the scenarios is in the sums, but has no place in time.
    if (step.fromMs !== null && step.untilMs !== null && step.untilMs > step.fromMs) {
      this.steps.add(packed);
      this.trim();
    }
  }

  /** Time of the test before the scenarios began. */
  private get setupMs(): number {
    return this.state === null ? 0 : Math.max(this.state.elapsedMs - this.state.atMs, 0);
  }

  /** Steps are whole seconds; the last one ends when the scenarios did, and what is open does not go on in a pause. */
  private trim(): void {
    const { state, end, open } = this;
    if (isPastScenarios(state)) {
      this.scenariosEndMs ??= state.atMs;
    }
    if (end !== null) {
      this.scenariosEndMs = Math.min(this.scenariosEndMs ?? Number.POSITIVE_INFINITY, end.durationMs - this.setupMs);
    }
    const last = this.steps.steps.at(-1);
    if (this.scenariosEndMs !== null && last !== undefined) {
      shorten(last, this.scenariosEndMs);
    }
    const until = this.scenariosEndMs ?? (state?.isPaused === true ? state.atMs : null);
    if (until !== null && open !== null) {
      shorten(open, until);
    }
  }

  private packed(step: Step): PackedStep {
    const { step: packed, unread } = pack(step.fromMs ?? 0, step.untilMs ?? 0, step.values, (id) => this.kindOf(id));
    this.unread += unread;
    return packed;
  }

  private total(id: number): Fold | null {
    const kind = this.kindOf(id);
    if (kind === null) {
      return null;
    }
    this.totals[id] ??= emptyFold(kind);
    return this.totals[id] ?? null;
  }
}

/** The scenarios are over, or the run stopped before they began. */
function isPastScenarios(state: State | null): state is State {
  return state !== null && PAST_SCENARIOS.includes(state.phase);
}

/** A step ends at this time unless it ends before; one that begins after it keeps a moment, for what is in it. */
function shorten(step: PackedStep, untilMs: number): void {
  step.untilMs = Math.min(step.untilMs, Math.max(untilMs, step.fromMs + 1));
}

const PAST_SCENARIOS: readonly string[] = ["teardown", "done", "closed"];
