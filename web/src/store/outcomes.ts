// What became of requests, by ending: one row for each, and how many there were in each step that is kept.

import type { Outcome } from "../stream/records.ts";

/** The program tells 64 endings apart; what else comes is counted as one more. */
const ROWS_MAX = 256;

export interface OutcomeRow extends Outcome {
  key: string;
  firstMs: number | null;
  lastMs: number | null;
}

export class OutcomeStore {
  readonly rows = new Map<string, OutcomeRow>();

  add(outcomes: readonly Outcome[], fromMs: number | null, untilMs: number | null): void {
    for (const outcome of outcomes) {
      const key = this.rows.size < ROWS_MAX || this.rows.has(keyOf(outcome)) ? keyOf(outcome) : "other";
      const row = this.rows.get(key);
      if (row === undefined) {
        const shown = key === "other" ? { ...outcome, status: null, code: null, text: "other endings" } : outcome;
        this.rows.set(key, { ...shown, key, firstMs: fromMs, lastMs: untilMs });
      } else {
        row.count += outcome.count;
        row.firstMs ??= fromMs;
        row.lastMs = untilMs ?? row.lastMs;
      }
    }
  }

  clear(): void {
    this.rows.clear();
  }
}

export function keyOf(outcome: Outcome): string {
  return outcome.isInterrupted ? "interrupted" : JSON.stringify([outcome.status, outcome.code, outcome.text]);
}
