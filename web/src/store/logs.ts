// Log lines, identical ones as one. A record repeats its line when the count has grown, and replaces what was there.

import type { Log } from "../stream/records.ts";

/** Different lines that are kept. */
export const LINES_MAX = 1_000;

export class LogStore {
  readonly lines = new Map<string, Log>();
  /** Different lines that there was no room for. */
  left = 0;

  add(log: Log): void {
    const key = log.line === null ? JSON.stringify([log.level, log.message, log.fields]) : String(log.line);
    const known = this.lines.get(key);
    if (known !== undefined) {
      this.lines.set(key, { ...log, firstMs: log.firstMs ?? known.firstMs ?? known.atMs });
    } else if (this.lines.size < LINES_MAX) {
      this.lines.set(key, { ...log, firstMs: log.firstMs ?? log.atMs });
    } else {
      this.left += 1;
    }
  }

  clear(): void {
    this.lines.clear();
    this.left = 0;
  }
}
