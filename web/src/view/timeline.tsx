// The whole run as a strip, always in reach, and the part of it that numbers are for. Two handles move by keys.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { clock, compact, span as lengthOf } from "../format/units.ts";
import { tagWords } from "../format/words.ts";
import { type Model, type Range, useModel } from "../model.ts";
import { counterTotal } from "../store/rows.ts";

const PRESETS: readonly [string, Range][] = [
  ["Whole run", { kind: "all" }],
  ["Last 5 min", { kind: "last", ms: 300_000 }],
  ["Last minute", { kind: "last", ms: 60_000 }],
];
const POINTS = 240;

export function Timeline() {
  const model = useModel();
  const range = model.range.value;
  const span = model.span.value;
  const untilMs = model.run.measuredUntilMs;
  const shown = span ?? { fromMs: 0, untilMs };
  const focus = Object.entries(model.focus.value);
  return (
    <section class="timeline" aria-label="Time range">
      <div class="timeline-row">
        <div class="presets">
          {PRESETS.filter(([, preset]) => preset.kind !== "last" || (model.run.end === null && untilMs > preset.ms)).map(
            ([name, preset]) => (
              <button
                key={name}
                type="button"
                aria-pressed={isSame(range, preset)}
                onClick={() => (model.range.value = preset)}
              >
                {name}
              </button>
            ),
          )}
        </div>
        <p class="selected" aria-live="polite">
          {span === null ? (
            <span class="soft">Drag on any chart to look at a part of the run: all numbers follow.</span>
          ) : (
            <>
              <b>
                {clock(shown.fromMs)} – {clock(shown.untilMs)}
              </b>{" "}
              <span class="soft">({lengthOf(shown.untilMs - shown.fromMs)})</span>
            </>
          )}
        </p>
        {focus.map(([tag, value]) => (
          <button
            key={tag}
            type="button"
            class="chip"
            onClick={() => model.toggleFocus(tag, value)}
            title="Show everything again"
          >
            <span class="hidden">Remove the filter </span>
            {tag}: {tagWords(tag, value)} <span aria-hidden="true">×</span>
          </button>
        ))}
      </div>
      {untilMs > 0 && <Strip model={model} untilMs={untilMs} shown={shown} isAll={span === null} />}
    </section>
  );
}

function Strip({
  model,
  untilMs,
  shown,
  isAll,
}: {
  model: Model;
  untilMs: number;
  shown: { fromMs: number; untilMs: number };
  isAll: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const drag = useSignal<{ from: number; until: number } | null>(null);
  const metric = model.run.seriesOf("http_reqs").length > 0 ? "http_reqs" : "iterations";
  const points = model.query.timeline(metric, {}, null, POINTS, "rate", (fold, seconds) =>
    seconds > 0 ? counterTotal(fold) / seconds : 0,
  );
  const largest = points.reduce((most, point) => Math.max(most, point.value), 0);
  const x = (ms: number) => (ms / untilMs) * 1_000;
  const outline = points.map(
    (point) =>
      `${x((point.fromMs + point.untilMs) / 2).toFixed(1)},${(40 - (largest > 0 ? point.value / largest : 0) * 36).toFixed(1)}`,
  );
  const path =
    points.length > 1 ? `M0,40L0,${height(outline[0])}L${outline.join("L")}L1000,${height(outline.at(-1))}L1000,40Z` : "";
  const msAt = (event: PointerEvent) => {
    const rect = box.current?.getBoundingClientRect();
    return rect === undefined ? 0 : Math.min(Math.max((event.clientX - rect.left) / rect.width, 0), 1) * untilMs;
  };
  const now =
    drag.value === null
      ? shown
      : { fromMs: Math.min(drag.value.from, drag.value.until), untilMs: Math.max(drag.value.from, drag.value.until) };
  const percent = (ms: number) => `${(Math.min(Math.max(ms / untilMs, 0), 1) * 100).toFixed(2)}%`;
  const move = (isStart: boolean) => (event: KeyboardEvent) => {
    const moved = movedBy(event, isStart ? shown.fromMs : shown.untilMs, untilMs);
    if (moved === null) {
      return;
    }
    event.preventDefault();
    const wanted = isStart
      ? { fromMs: Math.min(moved, shown.untilMs - 1_000), untilMs: shown.untilMs }
      : { fromMs: shown.fromMs, untilMs: Math.max(moved, shown.fromMs + 1_000) };
    if (wanted.fromMs <= 0 && wanted.untilMs >= untilMs) {
      model.selectAll();
    } else {
      model.select(wanted);
    }
  };
  return (
    <div
      class="strip"
      role="group"
      aria-label="The whole run"
      ref={box}
      onPointerDown={(event) => {
        if ((event.target as Element).closest("[role=slider]") === null) {
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.value = { from: msAt(event), until: msAt(event) };
        }
      }}
      onPointerMove={(event) => {
        if (drag.value !== null) {
          drag.value = { from: drag.value.from, until: msAt(event) };
        }
      }}
      onPointerUp={() => {
        const dragged = drag.value;
        drag.value = null;
        if (dragged !== null && Math.abs(dragged.until - dragged.from) > untilMs / 200) {
          model.select({ fromMs: Math.min(dragged.from, dragged.until), untilMs: Math.max(dragged.from, dragged.until) });
        }
      }}
      onPointerCancel={() => (drag.value = null)}
      onDblClick={() => model.selectAll()}
    >
      <svg viewBox="0 0 1000 40" preserveAspectRatio="none" aria-hidden="true">
        <path d={path} />
      </svg>
      <span class="strip-label">
        {metric === "http_reqs" ? "requests" : "iterations"} per second, up to {compact(largest)}
      </span>
      <div class="strip-shade" style={{ left: "0", width: percent(now.fromMs) }} />
      <div class="strip-shade" style={{ left: percent(now.untilMs), right: "0" }} />
      {(["from", "until"] as const).map((end) => {
        const ms = end === "from" ? now.fromMs : now.untilMs;
        return (
          <div
            key={end}
            class={`handle ${isAll ? "handle-all" : ""}`}
            role="slider"
            tabIndex={0}
            aria-label={end === "from" ? "Beginning of the selected time" : "End of the selected time"}
            aria-valuemin={0}
            aria-valuemax={Math.round(untilMs / 1_000)}
            aria-valuenow={Math.round(ms / 1_000)}
            aria-valuetext={clock(ms)}
            style={{ left: percent(ms) }}
            onKeyDown={move(end === "from")}
          />
        );
      })}
    </div>
  );
}

/** The height of a point of the outline. */
function height(point: string | undefined): string {
  return point?.split(",")[1] ?? "40";
}

/** Where a handle is after a key; `null` for other keys. */
function movedBy(event: KeyboardEvent, ms: number, untilMs: number): number | null {
  const step = Math.max(1_000, Math.round(untilMs / 100_000) * 1_000) * (event.shiftKey ? 10 : 1);
  switch (event.key) {
    case "ArrowLeft":
    case "ArrowDown":
      return Math.max(ms - step, 0);
    case "ArrowRight":
    case "ArrowUp":
      return Math.min(ms + step, untilMs);
    case "PageDown":
      return Math.max(ms - 10 * step, 0);
    case "PageUp":
      return Math.min(ms + 10 * step, untilMs);
    case "Home":
      return 0;
    case "End":
      return untilMs;
    default:
      return null;
  }
}

function isSame(a: Range, b: Range): boolean {
  return a.kind === b.kind && (a.kind !== "last" || b.kind !== "last" || a.ms === b.ms);
}
