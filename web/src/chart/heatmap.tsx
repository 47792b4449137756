// The histogram of a metric over time: each column a moment, each row a range of values, each cell how many there were. What a
// line of percentiles hides is seen here: two humps, a slow tail, a stall.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { clock, count, percent } from "../format/units.ts";
import { useModel } from "../model.ts";
import { between, colour, rgb } from "./colours.ts";
import { type Heat, strength } from "./heat.ts";
import { PRINT_PIXELS_WIDE } from "./plot.tsx";
import { useSeen } from "./seen.ts";

interface Cell {
  column: number;
  row: number;
}

export interface Curve {
  label: string;
  values: (number | null)[];
}

interface Props {
  title: string;
  heat: Heat | null;
  /** Percentiles on top, by column. */
  curves: Curve[];
  format: (value: number) => string;
  empty: string;
}

export function Heatmap({ title, heat, curves, format, empty }: Props) {
  const model = useModel();
  const frame = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const cell = useSignal<Cell | null>(null);
  const drag = useSignal<{ from: number; until: number } | null>(null);
  const isSeen = useSeen(frame) || model.isPrinting.value;
  const width = useSignal(0);
  const { fromMs, untilMs } = model.shown;
  const isDark = model.isDark.value;
  const grid = useMemo(() => (heat === null ? null : new Grid(heat, fromMs, untilMs)), [heat, fromMs, untilMs]);

  useEffect(() => {
    const element = canvas.current;
    if (element === null) {
      return;
    }
    const watch = new ResizeObserver(() => (width.value = element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [heat === null]);

  const isPrinting = model.isPrinting.value;
  useLayoutEffect(() => {
    if (canvas.current !== null && grid !== null && isSeen) {
      paint(canvas.current, isPrinting ? PRINT_PIXELS_WIDE : canvas.current.clientWidth, grid, curves, format);
    }
  }, [grid, curves, isSeen, isDark, width.value, isPrinting]);

  if (heat === null || grid === null) {
    return (
      <figure class="card plot" ref={frame}>
        <figcaption>
          <h3>{title}</h3>
        </figcaption>
        <p class="empty">{empty}</p>
      </figure>
    );
  }

  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    cell.value = grid.cellAt(x, y, box.width);
    model.pointed.value = grid.msAt(x, box.width) / 1_000;
    if (drag.value !== null) {
      drag.value = { ...drag.value, until: x };
    }
  };
  const key = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    if (move === undefined) {
      return;
    }
    event.preventDefault();
    const now = cell.value ?? { column: heat.columns.length - 1, row: grid.fullest(heat.columns.length - 1) };
    cell.value = {
      column: Math.min(Math.max(now.column + move[0], 0), heat.columns.length - 1),
      row: Math.min(Math.max(now.row + move[1], 0), heat.rows - 1),
    };
  };
  const text = cell.value === null ? null : describe(heat, cell.value, format);
  return (
    <figure class="card plot" ref={frame}>
      <figcaption>
        <div class="plot-title">
          <h3>{title}</h3>
          <Scale heat={heat} />
        </div>
        <ul class="legend">
          {curves.map((curve, place) => (
            <li key={curve.label}>
              <svg class="swatch" width="22" height="10" aria-hidden="true">
                <line
                  x1="1"
                  x2="21"
                  y1="5"
                  y2="5"
                  class="stroke-ink"
                  stroke-dasharray={(CURVE_DASHES[place] ?? []).join(" ")}
                />
              </svg>
              {curve.label}
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="heat-area">
        <canvas
          ref={canvas}
          class="heat"
          role="img"
          tabIndex={0}
          aria-label={`${title}: how many values there were by time and size. Arrow keys move from cell to cell.`}
          aria-describedby="heat-cell"
          onKeyDown={key}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
            drag.value = { from: x, until: x };
          }}
          onPointerMove={point}
          onPointerUp={(event) => {
            const { from, until } = drag.value ?? { from: 0, until: 0 };
            const box = event.currentTarget.getBoundingClientRect();
            drag.value = null;
            if (Math.abs(until - from) > 5) {
              model.select({
                fromMs: grid.msAt(Math.min(from, until), box.width),
                untilMs: grid.msAt(Math.max(from, until), box.width),
              });
            }
          }}
          onPointerCancel={() => (drag.value = null)}
          onPointerLeave={() => {
            cell.value = null;
            model.pointed.value = null;
          }}
          onBlur={() => (cell.value = null)}
        />
        {drag.value !== null && Math.abs(drag.value.until - drag.value.from) > 5 && (
          <div
            class="heat-drag"
            style={{
              left: `${Math.min(drag.value.from, drag.value.until)}px`,
              width: `${Math.abs(drag.value.until - drag.value.from)}px`,
            }}
          />
        )}
        {cell.value !== null && <Pointer grid={grid} cell={cell.value} width={width.value} />}
      </div>
      <p class="heat-cell" id="heat-cell" aria-live="polite">
        {text ?? "Point at a cell, or move with the arrow keys, to see its count. Drag to select a time."}
      </p>
    </figure>
  );
}

function Pointer({ grid, cell, width }: { grid: Grid; cell: Cell; width: number }) {
  const { x, y, w, h } = grid.rect(cell.column, cell.row, width);
  return (
    <div
      class="heat-pointer"
      style={{ left: `${x}px`, top: `${y}px`, width: `${Math.max(w, 3)}px`, height: `${Math.max(h, 3)}px` }}
    />
  );
}

/** The colours with the numbers they stand for. */
function Scale({ heat }: { heat: Heat }) {
  return (
    <p class="heat-scale">
      <span>few</span>
      <span class="heat-ramp" aria-hidden="true" />
      <span>{count(Math.round(heat.densest))}/s in a cell</span>
    </p>
  );
}

function describe(heat: Heat, { column, row }: Cell, format: (value: number) => string): string {
  const at = heat.columns[column];
  const number = at?.counts[row] ?? 0;
  if (at === undefined) {
    return "";
  }
  const isZeros = heat.hasZeros && row === 0;
  const values = isZeros ? "0 or less" : `${format(heat.bounds[row] ?? 0)} to ${format(heat.bounds[row + 1] ?? 0)}`;
  const share = at.total > 0 ? number / at.total : 0;
  return `${clock(at.fromMs)}–${clock(at.untilMs)}, ${values}: ${count(number)} of ${count(at.total)} (${percent(share)})`;
}

/** Where cells are. */
class Grid {
  readonly left = 58;
  readonly top = 6;
  readonly bottom = 24;

  constructor(
    readonly heat: Heat,
    readonly fromMs: number,
    readonly untilMs: number,
  ) {}

  rect(column: number, row: number, width: number): { x: number; y: number; w: number; h: number } {
    const at = this.heat.columns[column];
    const h = (HEIGHT - this.top - this.bottom) / this.heat.rows;
    const x = this.x(at?.fromMs ?? 0, width);
    return { x, y: HEIGHT - this.bottom - (row + 1) * h, w: this.x(at?.untilMs ?? 0, width) - x, h };
  }

  x(ms: number, width: number): number {
    const share = (ms - this.fromMs) / Math.max(this.untilMs - this.fromMs, 1);
    return this.left + Math.min(Math.max(share, 0), 1) * (width - this.left - 8);
  }

  msAt(x: number, width: number): number {
    const share = Math.min(Math.max((x - this.left) / (width - this.left - 8), 0), 1);
    return this.fromMs + share * (this.untilMs - this.fromMs);
  }

  /** The height at which a value lies, between the bounds of its row. */
  y(value: number): number {
    const { bounds, rows } = this.heat;
    const h = (HEIGHT - this.top - this.bottom) / rows;
    let row = 0;
    while (row + 1 < rows && (bounds[row + 1] ?? 0) < value) {
      row += 1;
    }
    const [inner, outer] = [bounds[row] ?? 0, bounds[row + 1] ?? 1];
    const part = inner > 0 && value > 0 ? Math.log(value / inner) / Math.log(outer / inner) : 0.5;
    return HEIGHT - this.bottom - (row + Math.min(Math.max(part, 0), 1)) * h;
  }

  cellAt(x: number, y: number, width: number): Cell | null {
    const ms = this.msAt(x, width);
    const column = this.heat.columns.findIndex((one) => ms >= one.fromMs && ms < one.untilMs);
    const row = Math.floor(((HEIGHT - this.bottom - y) / (HEIGHT - this.top - this.bottom)) * this.heat.rows);
    return column === -1 || row < 0 || row >= this.heat.rows ? null : { column, row };
  }

  fullest(column: number): number {
    const counts = this.heat.columns[column]?.counts ?? new Float64Array(0);
    return counts.indexOf(counts.reduce((most, one) => Math.max(most, one), 0));
  }
}

function paint(
  canvas: HTMLCanvasElement,
  width: number,
  grid: Grid,
  curves: readonly Curve[],
  format: (value: number) => string,
): void {
  const context = canvas.getContext("2d");
  if (context === null || width === 0) {
    return;
  }
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(HEIGHT * devicePixelRatio);
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, width, HEIGHT);
  const stops = HEAT_STOPS.map((name) => rgb(colour(name)));
  const { heat } = grid;
  for (const [column, { counts, seconds }] of heat.columns.entries()) {
    for (const [row, number] of counts.entries()) {
      if (number > 0) {
        const { r, g, b } = between(stops, strength(number, seconds, heat));
        const { x, y, w, h } = grid.rect(column, row, width);
        context.fillStyle = `rgb(${r} ${g} ${b})`;
        // A little wider, so that no seams are between cells.
        context.fillRect(x, y, w + 0.6, h + 0.6);
      }
    }
  }
  paintAxes(context, grid, width, format);
  context.lineWidth = 1.5;
  context.strokeStyle = colour("ink");
  for (const [place, { values }] of curves.entries()) {
    context.setLineDash(CURVE_DASHES[place] ?? []);
    context.beginPath();
    for (const [column, value] of values.entries()) {
      const at = heat.columns[column];
      if (value !== null && at !== undefined) {
        context.lineTo(grid.x((at.fromMs + at.untilMs) / 2, width), grid.y(value));
      }
    }
    context.stroke();
  }
  context.setLineDash([]);
}

function paintAxes(context: CanvasRenderingContext2D, grid: Grid, width: number, format: (value: number) => string): void {
  const { heat } = grid;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colour("text-soft");
  context.textAlign = "right";
  context.textBaseline = "middle";
  const rowHeight = (HEIGHT - grid.top - grid.bottom) / heat.rows;
  // Round values, 1, 2 and 5 of each decade, where there is room for them.
  let lastY = Number.POSITIVE_INFINITY;
  const lowest = heat.bounds.find((bound) => bound > 0) ?? 1;
  for (let decade = Math.floor(Math.log10(lowest)); decade <= Math.log10(heat.bounds.at(-1) ?? 1); decade++) {
    for (const step of [1, 2, 5]) {
      const value = step * 10 ** decade;
      if (value < lowest || value > (heat.bounds.at(-1) ?? 0)) {
        continue;
      }
      const y = grid.y(value);
      if (lastY - y >= 20) {
        context.fillText(format(value), grid.left - 8, y);
        context.fillRect(grid.left - 4, y, 4, 1);
        lastY = y;
      }
    }
  }
  if (heat.hasZeros) {
    context.fillText("0", grid.left - 8, HEIGHT - grid.bottom - rowHeight / 2);
  }
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const length = (grid.untilMs - grid.fromMs) / 1_000;
  const step = TIME_STEPS.find((one) => (length / one) * 70 <= width - grid.left) ?? 86_400;
  for (let at = Math.ceil(grid.fromMs / 1_000 / step) * step; at * 1_000 <= grid.untilMs; at += step) {
    context.fillText(clock(at * 1_000), Math.min(grid.x(at * 1_000, width), width - 16), HEIGHT - 6);
  }
}

const HEIGHT = 300;
const HEAT_STOPS = ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4"];
const CURVE_DASHES: number[][] = [[], [6, 4], [2, 3]];
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];
const MOVES: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
