// What the page shows: the run, the part of it that is looked at, and when they changed. One for each page.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Query, type Span, type Tags } from "./store/query.ts";
import { Run } from "./store/run.ts";
import type { Message } from "./stream/records.ts";
import type { Connection } from "./stream/sse.ts";

/** The part of the run that numbers are for. */
export type Range = { kind: "all" } | { kind: "last"; ms: number } | { kind: "fixed"; span: Span };

export class Model {
  private readonly known = new Run();
  private readonly asked = new Query(this.known);
  /** Grows when the run has changed. */
  readonly revision = signal(0);
  readonly range: Signal<Range> = signal({ kind: "all" });
  /** Tags that the page is narrowed to. */
  readonly focus: Signal<Tags> = signal({});
  readonly connection: Signal<Connection> = signal("connecting");
  readonly connectionWhy = signal("");
  readonly token = signal("");
  readonly isDark = signal(false);
  /** The moment that charts point at, in seconds of the run. */
  readonly pointed: Signal<number | null> = signal(null);
  /** Everything is drawn, wherever it is: before printing. */
  readonly isPrinting = signal(false);
  /** What a report holds beside its stream. */
  readonly summary: Signal<Record<string, unknown> | null> = signal(null);
  readonly span: ReadonlySignal<Span | null>;
  private waiting: Message[] = [];
  private isScheduled = false;

  constructor(readonly kind: "dashboard" | "report") {
    // A new object only if it says something new: charts compare.
    let before: Span | null = null;
    this.span = computed(() => {
      const next = this.spanOf(this.range.value);
      if (next?.fromMs !== before?.fromMs || next?.untilMs !== before?.untilMs) {
        before = next;
      }
      return before;
    });
  }

  /** What is known of the run; whatever reads it follows it: a part of the page is drawn again only if a signal that it read changed. */
  get run(): Run {
    void this.revision.value;
    return this.known;
  }

  get query(): Query {
    void this.revision.value;
    return this.asked;
  }

  /** Takes records; the page follows with the next picture. */
  take(messages: Message[]): void {
    this.waiting.push(...messages);
    if (!this.isScheduled) {
      this.isScheduled = true;
      // Also in a tab that nobody looks at, where animation frames stand still.
      setTimeout(() => this.apply(), 0);
    }
  }

  apply(): void {
    this.isScheduled = false;
    const messages = this.waiting;
    this.waiting = [];
    batch(() => {
      for (const message of messages) {
        this.known.take(message);
        if (message.event === "head") {
          this.asked.forget();
        }
      }
      this.revision.value = this.revision.peek() + 1;
    });
  }

  select(span: Span): void {
    const snapped = this.query.snapped(span);
    if (snapped !== null) {
      this.range.value = { kind: "fixed", span: snapped };
    }
  }

  selectAll(): void {
    this.range.value = { kind: "all" };
  }

  toggleFocus(tag: string, value: string): void {
    const { [tag]: now, ...rest } = this.focus.value;
    this.focus.value = now === value ? rest : { ...rest, [tag]: value };
  }

  /** The tags of the focus that a metric can be narrowed by; the others say nothing about it. */
  focusOf(metric: string): Tags {
    const entries = Object.entries(this.focus.value).filter(([tag]) => this.query.hasTag(metric, tag));
    return entries.length === 0 ? NO_TAGS : Object.fromEntries(entries);
  }

  /** What is to be said of a metric that lacks tags of the focus; `null` where it has all of them. */
  unfiltered(metric: string): string | null {
    const lacks = Object.keys(this.focus.value).filter((tag) => !this.query.hasTag(metric, tag));
    return lacks.length === 0 ? null : `Not filtered by ${lacks.join(" and ")}.`;
  }

  /** Where charts begin and end. */
  get shown(): Span {
    return this.span.value ?? { fromMs: 0, untilMs: this.run.measuredUntilMs };
  }

  private spanOf(range: Range): Span | null {
    switch (range.kind) {
      case "all":
        return null;
      case "fixed":
        return range.span;
      case "last": {
        const untilMs = this.run.measuredUntilMs;
        const wanted = { fromMs: untilMs - range.ms, untilMs };
        return range.ms >= untilMs ? null : (this.query.snapped(wanted) ?? wanted);
      }
    }
  }
}

const NO_TAGS: Tags = {};

export const ModelContext = createContext<Model | null>(null);

export function useModel(): Model {
  const model = useContext(ModelContext);
  if (model === null) {
    throw new Error("there is no model around this part of the page");
  }
  return model;
}
