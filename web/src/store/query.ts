// Questions to a run: what a metric was in a part of the run, for the series that have certain tags, as one fold or over time.
//
// Every answer is a sum of histograms and counts, never an average of averages. Answers for parts of the run that are over are
// kept, because charts ask for them once a second.

import { emptyFold, type Fold, type Kind, mergeFold } from "../metrics/fold.ts";
import type { Series } from "../stream/records.ts";
import type { Run } from "./run.ts";
import { addFrom, type PackedStep } from "./steps.ts";

/** Tags that series must have. */
export type Tags = Readonly<Record<string, string>>;

/** A part of the run; `null`: all of it, setup and teardown included. */
export interface Span {
  fromMs: number;
  untilMs: number;
}

/** One point of a chart: what was measured between two moments. */
export interface Point<T> {
  fromMs: number;
  untilMs: number;
  /** Time that steps cover, which may be less than all of it. */
  seconds: number;
  value: T;
}

/** Answers kept for one question. */
const ANSWERS_MAX = 4_000;
const QUESTIONS_MAX = 200;
/** Beginnings of steps of one point; widths in milliseconds that people can read on an axis. */
const WIDTHS_MS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200].map((s) => s * 1_000);

export class Query {
  private readonly answers = new Map<string, Map<string, unknown>>();
  private matches = new Map<string, number[]>();
  private matchesRevision = -1;

  constructor(readonly run: Run) {}

  forget(): void {
    this.answers.clear();
    this.matches.clear();
  }

  /** The series of a metric that have all these tags. */
  series(metric: string, tags: Tags = {}): readonly number[] {
    if (this.matchesRevision !== this.run.seriesRevision) {
      this.matches = new Map();
      this.answers.clear();
      this.matchesRevision = this.run.seriesRevision;
    }
    const key = JSON.stringify([metric, tags]);
    let found = this.matches.get(key);
    if (found === undefined) {
      const wanted = Object.entries(tags);
      found = this.run.seriesOf(metric).filter((id) => {
        const has = this.run.series[id]?.tags;
        return wanted.every(([tag, value]) => has?.[tag] === value);
      });
      this.matches.set(key, found);
    }
    return found;
  }

  /** Whether a metric has a tag on any of its series. */
  hasTag(metric: string, tag: string): boolean {
    return this.run.seriesOf(metric).some((id) => this.run.series[id]?.tags[tag] !== undefined);
  }

  /** What a metric was, in a part of the run or all of it. */
  fold(metric: string, tags: Tags = {}, span: Span | null = null): Fold | null {
    const kind = this.run.metric(metric)?.kind;
    return kind === undefined ? null : this.foldOf(kind, this.series(metric, tags), span);
  }

  foldOf(kind: Kind, series: readonly number[], span: Span | null): Fold {
    const sum = emptyFold(kind);
    if (span === null) {
      for (const id of series) {
        const total = this.run.totals[id];
        if (total !== undefined) {
          mergeFold(sum, total);
        }
        if (this.run.open !== null) {
          addFrom(this.run.open, id, sum);
        }
      }
      return sum;
    }
    for (const step of this.stepsIn(span)) {
      for (const id of series) {
        addFrom(step, id, sum);
      }
    }
    return sum;
  }

  /** A metric's folds by what its series have of some tag (series without it are left out). */
  groups(metric: string, keyOf: (series: Series) => string | null, span: Span | null, tags: Tags = {}): Map<string, Fold> {
    const kind = this.run.metric(metric)?.kind;
    const members = new Map<string, number[]>();
    for (const id of kind === undefined ? [] : this.series(metric, tags)) {
      const series = this.run.series[id];
      const key = series === undefined ? null : keyOf(series);
      if (key !== null) {
        const ids = members.get(key);
        if (ids === undefined) {
          members.set(key, [id]);
        } else {
          ids.push(id);
        }
      }
    }
    const folds = new Map<string, Fold>();
    for (const [key, ids] of members) {
      const fold = this.foldOf(kind ?? "counter", ids, span);
      if (!fold.isEmpty) {
        folds.set(key, fold);
      }
    }
    return folds;
  }

  /**
   * A metric over time in at most so many points, each made of whole steps. `extract` gets the folded point; `name` says what it
   * extracts, so that the answer can be kept.
   */
  timeline<T>(
    metric: string,
    tags: Tags,
    span: Span | null,
    pointsMax: number,
    name: string,
    extract: (fold: Fold, seconds: number) => T,
  ): Point<T>[] {
    const kind = this.run.metric(metric)?.kind;
    const question = `${name} ${JSON.stringify([metric, tags])}`;
    return kind === undefined ? [] : this.timelineOf(kind, this.series(metric, tags), span, pointsMax, question, extract);
  }

  /** The same of certain series; `question` says which they are, and what is extracted. */
  timelineOf<T>(
    kind: Kind,
    series: readonly number[],
    span: Span | null,
    pointsMax: number,
    question: string,
    extract: (fold: Fold, seconds: number) => T,
  ): Point<T>[] {
    const kept = this.answersTo(question);
    return this.grouped(span, pointsMax).map((steps) => {
      const first = steps[0];
      const last = steps.at(-1);
      const fromMs = first?.fromMs ?? 0;
      const untilMs = last?.untilMs ?? 0;
      const isOpen = last === this.run.open;
      const key = `${fromMs} ${untilMs}`;
      const seconds = steps.reduce((sum, step) => sum + (step.untilMs - step.fromMs), 0) / 1_000;
      const known = isOpen ? undefined : (kept.get(key) as T | undefined);
      if (known !== undefined) {
        return { fromMs, untilMs, seconds, value: known };
      }
      const fold = emptyFold(kind);
      for (const step of steps) {
        for (const id of series) {
          addFrom(step, id, fold);
        }
      }
      const value = extract(fold, seconds);
      if (!isOpen) {
        if (kept.size >= ANSWERS_MAX) {
          kept.clear();
        }
        kept.set(key, value);
      }
      return { fromMs, untilMs, seconds, value };
    });
  }

  /** The steps of a part of the run, the open one included. */
  stepsIn(span: Span | null): PackedStep[] {
    const { steps, open } = { steps: this.run.steps, open: this.run.open };
    const [from, until] = span === null ? [0, steps.steps.length] : steps.between(span.fromMs, span.untilMs);
    const found = steps.steps.slice(from, until);
    if (open !== null && open.untilMs > open.fromMs) {
      const middle = (open.fromMs + open.untilMs) / 2;
      if (span === null || (middle >= span.fromMs && middle < span.untilMs)) {
        found.push(open);
      }
    }
    return found;
  }

  /** A part of the run as whole steps have it. */
  snapped(span: Span): Span | null {
    const steps = this.stepsIn(span);
    const [first, last] = [steps[0], steps.at(-1)];
    return first === undefined || last === undefined ? null : { fromMs: first.fromMs, untilMs: last.untilMs };
  }

  /** Steps by the point of a chart they belong to. */
  private grouped(span: Span | null, pointsMax: number): PackedStep[][] {
    const steps = this.stepsIn(span);
    const [first, last] = [steps[0], steps.at(-1)];
    if (first === undefined || last === undefined) {
      return [];
    }
    const length = last.untilMs - first.fromMs;
    const width = WIDTHS_MS.find((one) => length / one <= pointsMax) ?? length / pointsMax;
    const groups: PackedStep[][] = [];
    let open = Number.NaN;
    const before = steps.at(-2);
    for (const step of steps) {
      const group = Math.floor((step.fromMs + step.untilMs) / 2 / width);
      // A run hardly ever ends with a second: the rest of one, as a point of its own, looks like a change of the load.
      const isRest = step === last && before !== undefined && lengthOf(step) < lengthOf(before) / 2;
      if (group === open || isRest) {
        groups.at(-1)?.push(step);
      } else {
        groups.push([step]);
        open = group;
      }
    }
    return groups;
  }

  private answersTo(question: string): Map<string, unknown> {
    let kept = this.answers.get(question);
    if (kept === undefined) {
      if (this.answers.size >= QUESTIONS_MAX) {
        this.answers.clear();
      }
      kept = new Map();
      this.answers.set(question, kept);
    }
    return kept;
  }
}

/** In milliseconds. */
function lengthOf(step: PackedStep): number {
  return step.untilMs - step.fromMs;
}
