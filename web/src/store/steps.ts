// The steps of a run, packed, a bounded amount of them: when there are too many, old neighbours become one. Nothing is lost by
// that but resolution in time, since folds add up exactly.

import { emptyFold, type Fold, type Kind, mergeFold } from "../metrics/fold.ts";
import { addCell, CellWriter } from "./cells.ts";

/** Eight hours are 28,800 steps of a second: they are kept as some 1,000 of 32 s and the latest ones as they came. */
export const STEPS_MAX = 1_500;
/** Of all steps together; 200 series of wide distributions come to some 30 KB a step. */
export const STEP_BYTES_MAX = 40_000_000;
/** Steps that stay as they came, if there is room: five minutes. */
const RECENT_STEPS = 300;
/** Steps that stay as they came in any case. */
const YOUNGEST_STEPS = 10;

export interface PackedStep {
  fromMs: number;
  untilMs: number;
  /** Series, rising. */
  ids: Uint32Array;
  /** Where each of them is in `bytes`. */
  offsets: Uint32Array;
  bytes: Uint8Array<ArrayBuffer>;
}

export type KindOf = (series: number) => Kind | null;

export class StepStore {
  readonly steps: PackedStep[] = [];
  bytes = 0;
  private readonly writer = new CellWriter();

  constructor(
    private readonly kindOf: KindOf,
    private readonly stepsMax = STEPS_MAX,
    private readonly bytesMax = STEP_BYTES_MAX,
  ) {}

  add(step: PackedStep): void {
    this.steps.push(step);
    this.bytes += size(step);
    if (this.isOver) {
      this.thin(Math.min(RECENT_STEPS, Math.floor(this.stepsMax / 5)));
    }
    while (this.isOver && this.thin(YOUNGEST_STEPS)) {
      // Until it fits, or nothing can be joined any more.
    }
  }

  private get isOver(): boolean {
    return this.steps.length > this.stepsMax || this.bytes > this.bytesMax;
  }

  clear(): void {
    this.steps.length = 0;
    this.bytes = 0;
  }

  /** Indices of the steps in a part of the run, by their middles: from the first one up to, without, the second. */
  between(fromMs: number, untilMs: number): [number, number] {
    return [this.firstFrom(fromMs), this.firstFrom(untilMs)];
  }

  private firstFrom(ms: number): number {
    let low = 0;
    let high = this.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const step = this.steps[middle];
      if (step !== undefined && (step.fromMs + step.untilMs) / 2 < ms) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Joins the shortest steps in pairs, but not the youngest so many; false if there were none. */
  private thin(young: number): boolean {
    const old = this.steps.length - young;
    let shortest = Number.POSITIVE_INFINITY;
    for (let place = 0; place + 1 < old; place++) {
      const [first, second] = [this.steps[place], this.steps[place + 1]];
      if (first !== undefined && second !== undefined) {
        shortest = Math.min(shortest, second.untilMs - first.fromMs);
      }
    }
    if (!Number.isFinite(shortest)) {
      return false;
    }
    const kept: PackedStep[] = [];
    for (let place = 0; place < this.steps.length; place++) {
      const [first, second] = [this.steps[place], this.steps[place + 1]];
      if (first === undefined) {
        continue;
      }
      if (second !== undefined && place + 1 < old && second.untilMs - first.fromMs <= shortest * 1.5) {
        kept.push(this.joined(first, second));
        place += 1;
      } else {
        kept.push(first);
      }
    }
    const isShorter = kept.length < this.steps.length;
    this.steps.splice(0, this.steps.length, ...kept);
    this.bytes = kept.reduce((sum, step) => sum + size(step), 0);
    return isShorter;
  }

  private joined(first: PackedStep, second: PackedStep): PackedStep {
    const ids = Uint32Array.from(new Set([...first.ids, ...second.ids])).sort();
    const offsets = new Uint32Array(ids.length);
    this.writer.reset();
    for (const [place, id] of ids.entries()) {
      offsets[place] = this.writer.length;
      const kind = this.kindOf(id) ?? "counter";
      const fold = emptyFold(kind);
      addFrom(first, id, fold);
      addFrom(second, id, fold);
      this.writer.writeFold(fold);
    }
    return { fromMs: first.fromMs, untilMs: second.untilMs, ids, offsets, bytes: this.writer.taken() };
  }
}

/** Packs a step's values; `unread` counts those that are none of their series' kind, or of no known series. */
export function pack(
  fromMs: number,
  untilMs: number,
  values: readonly [number, unknown][],
  kindOf: KindOf,
): { step: PackedStep; unread: number } {
  const writer = new CellWriter();
  const cells: [number, number][] = [];
  let unread = 0;
  let before = -1;
  for (const [id, value] of [...values].sort((a, b) => a[0] - b[0])) {
    const kind = kindOf(id);
    const offset = writer.length;
    // A series twice in one step is against the format; the first counts.
    if (kind !== null && id !== before && writer.writeValue(kind, value)) {
      cells.push([id, offset]);
      before = id;
    } else {
      unread += 1;
    }
  }
  const step = {
    fromMs,
    untilMs,
    ids: Uint32Array.from(cells, ([id]) => id),
    offsets: Uint32Array.from(cells, ([, offset]) => offset),
    bytes: writer.taken(),
  };
  return { step, unread };
}

/** Adds what a step has of a series to a fold of its kind. */
export function addFrom(step: PackedStep, id: number, fold: Fold): boolean {
  const { ids } = step;
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] ?? 0) < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (ids[low] !== id) {
    return false;
  }
  addCell(step.bytes, step.offsets[low] ?? 0, fold);
  return true;
}

/** All series of a step. */
export function addAll(step: PackedStep, foldOf: (id: number) => Fold | null): void {
  for (const [place, id] of step.ids.entries()) {
    const fold = foldOf(id);
    if (fold !== null) {
      addCell(step.bytes, step.offsets[place] ?? 0, fold);
    }
  }
}

/** Several folds of one kind as one. */
export function sumOf(kind: Kind, folds: Iterable<Fold>): Fold {
  const sum = emptyFold(kind);
  for (const fold of folds) {
    mergeFold(sum, fold);
  }
  return sum;
}

function size(step: PackedStep): number {
  return step.bytes.byteLength + step.ids.byteLength + step.offsets.byteLength;
}
