// A chart over time: uPlot with our legend, units, colours and keys. Dragging selects a part of the run.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { clock } from "../format/units.ts";
import { useModel } from "../model.ts";
import { colour, DASHES, withAlpha } from "./colours.ts";
import { useSeen } from "./seen.ts";
import { DataTable } from "./table.tsx";

export interface Line {
  label: string;
  values: (number | null)[];
  /** A colour of the style sheet. */
  colour: string;
  dash?: keyof typeof DASHES;
  /** What the legend says while nothing is pointed at. */
  summary?: string | null;
  /** The area below is filled. */
  isFilled?: boolean;
  /** Drawn as stairs: a plan that jumps. */
  isStepped?: boolean;
}

export interface Limit {
  label: string;
  value: number;
}

export interface PlotProps {
  title: string;
  /** A sentence where the title does not say it all. */
  note?: string | null;
  x: number[];
  lines: Line[];
  format: (value: number) => string;
  isStacked?: boolean;
  limits?: Limit[];
  /** What stands here without data. */
  empty: string;
  height?: number;
  isWide?: boolean;
  children?: ComponentChildren;
}

export function Plot(props: PlotProps) {
  const model = useModel();
  const frame = useRef<HTMLElement>(null);
  const isSeen = useSeen(frame) || model.isPrinting.value;
  const hasData = props.x.length > 0 && props.lines.some((line) => line.values.some((value) => value !== null));
  return (
    <figure class="card plot" ref={frame}>
      <PlotHead {...props} />
      {!hasData ? <p class="empty">{props.empty}</p> : <Canvas {...props} isSeen={isSeen} />}
      {hasData && <DataTable title={props.title} x={props.x} lines={props.lines} format={props.format} />}
    </figure>
  );
}

function PlotHead({ title, note, children, x, lines, format }: PlotProps) {
  const model = useModel();
  const pointed = model.pointed.value;
  const place = pointed === null ? -1 : nearest(x, pointed);
  return (
    <figcaption>
      <div class="plot-title">
        <h3>{title}</h3>
        {children}
      </div>
      {note && <p class="note">{note}</p>}
      <ul class="legend">
        {lines.map((line) => {
          const value = place === -1 ? null : (line.values[place] ?? null);
          const text = place === -1 ? (line.summary ?? "") : value === null ? "–" : format(value);
          return (
            <li key={line.label}>
              <Swatch line={line} />
              <span class="legend-label">{line.label}</span>
              {text !== "" && <span class="legend-value">{text}</span>}
            </li>
          );
        })}
      </ul>
    </figcaption>
  );
}

function Swatch({ line }: { line: Line }) {
  const dash = DASHES[line.dash ?? "solid"] ?? [];
  return (
    <svg class="swatch" width="22" height="10" aria-hidden="true">
      {line.isFilled && <rect x="0" y="1" width="22" height="9" rx="2" class={`fill-${line.colour} swatch-area`} />}
      <line
        x1="1"
        x2="21"
        y1={line.isFilled ? 1.5 : 5}
        y2={line.isFilled ? 1.5 : 5}
        class={`stroke-${line.colour}`}
        stroke-dasharray={dash.join(" ")}
      />
    </svg>
  );
}

function Canvas(props: PlotProps & { isSeen: boolean }) {
  const model = useModel();
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const data = useRef<uPlot.AlignedData>([[]]);
  const bounds = useRef({ from: 0, until: 1 });
  const limits = useRef(props.limits ?? []);
  const format = useRef(props.format);
  const failure = useSignal("");
  const { fromMs, untilMs } = model.shown;
  const isDark = model.isDark.value;
  const isPrinting = model.isPrinting.value;
  bounds.current = { from: fromMs / 1_000, until: Math.max(untilMs / 1_000, fromMs / 1_000 + 0.001) };
  limits.current = props.limits ?? [];
  format.current = props.format;
  data.current = useMemo(() => aligned(props), [props.x, props.lines, props.isStacked]);
  const shape = JSON.stringify([
    props.lines.map((line) => [line.label, line.colour, line.dash, line.isFilled]),
    props.isStacked,
  ]);
  const height = props.height ?? 200;

  // Not after the next picture: printing does not wait for it.
  useLayoutEffect(() => {
    const box = place.current;
    if (box === null || !props.isSeen) {
      return;
    }
    let width = isPrinting ? (props.isWide === true ? PRINT_PIXELS_WIDE : PRINT_PIXELS) : box.clientWidth;
    let made: uPlot;
    try {
      made = new uPlot(
        options(
          props,
          model.kind,
          () => bounds.current,
          limits,
          format,
          (from, until) => model.select({ fromMs: from * 1_000, untilMs: until * 1_000 }),
          (at) => {
            if (model.pointed.peek() !== at) {
              model.pointed.value = at;
            }
          },
          width,
          height,
        ),
        data.current,
        box,
      );
    } catch (error) {
      failure.value = String(error);
      return;
    }
    chart.current = made;
    const watch = new ResizeObserver(() => {
      if (!isPrinting && box.clientWidth !== width && box.clientWidth > 0) {
        width = box.clientWidth;
        made.setSize({ width, height });
      }
    });
    watch.observe(box);
    return () => {
      watch.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [shape, isDark, isPrinting, height, props.isSeen]);

  useLayoutEffect(() => {
    if (props.isSeen) {
      chart.current?.setData(data.current);
    }
  }, [data.current, fromMs, untilMs, props.isSeen]);

  return (
    <div class="plot-area" ref={place} style={{ height: `${height}px` }}>
      {failure.value !== "" && <p class="empty">{failure.value}</p>}
    </div>
  );
}

function aligned({ x, lines, isStacked }: PlotProps): uPlot.AlignedData {
  if (isStacked !== true) {
    return [x, ...lines.map((line) => line.values)] as uPlot.AlignedData;
  }
  // The first line lies at the bottom: its own values; each next one is on top of it. uPlot paints series in order, so the
  // highest sum is painted first.
  const sums: number[][] = [];
  const below = new Array<number>(x.length).fill(0);
  for (const line of lines) {
    for (const [place, value] of line.values.entries()) {
      below[place] = (below[place] ?? 0) + (value ?? 0);
    }
    sums.push([...below]);
  }
  return [x, ...sums.reverse()] as uPlot.AlignedData;
}

function options(
  props: PlotProps,
  kind: "dashboard" | "report",
  bounds: () => { from: number; until: number },
  limits: { current: Limit[] },
  format: { current: (value: number) => string },
  onSelect: (from: number, until: number) => void,
  onPoint: (at: number | null) => void,
  width: number,
  height: number,
): uPlot.Options {
  const axis = { stroke: colour("text-soft"), font: FONT, grid: { stroke: colour("grid"), width: 1 }, ticks: { show: false } };
  const lines = props.isStacked === true ? [...props.lines].reverse() : props.lines;
  return {
    width,
    height,
    padding: [10, 22, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      sync: { key: `time-${kind}` },
      points: { size: 7 },
    },
    scales: {
      x: { time: false, range: () => [bounds().from, bounds().until] },
      y: {
        range: (_, min, max) => {
          const largest = Math.max(
            max ?? 0,
            ...limits.current.map((limit) => limit.value).filter((value) => value <= 3 * (max ?? 0)),
          );
          return [Math.min(0, min ?? 0), largest > 0 ? largest * 1.08 : 1];
        },
      },
    },
    axes: [
      { ...axis, size: 26, gap: 6, space: 64, incrs: INCREMENTS, values: (_, splits) => splits.map((at) => clock(at * 1_000)) },
      {
        ...axis,
        space: 34,
        gap: 6,
        values: (_, splits) => splits.map((value) => format.current(value)),
        size: (_, values) => Math.max(...(values ?? []).map((value) => value.length), 3) * 6.6 + 14,
      },
    ],
    series: [
      {},
      ...lines.map((line): uPlot.Series => {
        const stroke = colour(line.colour);
        return {
          label: line.label,
          stroke,
          width: 1.75,
          dash: DASHES[line.dash ?? "solid"] ?? [],
          points: { show: props.x.length < 3 },
          spanGaps: line.isStepped === true,
          ...(line.isStepped === true && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
          ...(props.isStacked === true ? { fill: mixed(stroke) } : line.isFilled ? { fill: withAlpha(stroke, 0.14) } : {}),
        };
      }),
    ],
    hooks: {
      setSelect: [
        (chart) => {
          if (chart.select.width > DRAG_PIXELS_MIN) {
            onSelect(chart.posToVal(chart.select.left, "x"), chart.posToVal(chart.select.left + chart.select.width, "x"));
          }
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      setCursor: [
        (chart) => {
          const at = chart.cursor.idx;
          onPoint(at === null || at === undefined || (chart.cursor.left ?? -1) < 0 ? null : (chart.data[0][at] ?? null));
        },
      ],
      draw: [(chart) => drawLimits(chart, limits.current)],
    },
  };
}

/** Thresholds: a line across with its words. */
function drawLimits(chart: uPlot, limits: Limit[]): void {
  const { ctx, bbox } = chart;
  for (const limit of limits) {
    const y = chart.valToPos(limit.value, "y", true);
    if (y < bbox.top || y > bbox.top + bbox.height) {
      continue;
    }
    ctx.save();
    ctx.strokeStyle = colour("bad");
    ctx.fillStyle = colour("bad");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    const [right, wide] = [bbox.left + bbox.width - 4 * devicePixelRatio, ctx.measureText(limit.label).width];
    ctx.fillStyle = withAlpha(colour("surface"), 0.8);
    ctx.fillRect(right - wide - 4, y - 16 * devicePixelRatio, wide + 8, 15 * devicePixelRatio);
    ctx.fillStyle = colour("bad");
    ctx.fillText(limit.label, right, y - 4 * devicePixelRatio);
    ctx.restore();
  }
}

/** A colour mixed with the page's, so that what lies below a stacked area does not shine through. */
function mixed(stroke: string): string {
  return `color-mix(in srgb, ${stroke} 55%, ${colour("surface")})`;
}

/** The place of what is closest to a moment; -1 in an empty list. */
export function nearest(x: readonly number[], at: number): number {
  let best = -1;
  let distance = Number.POSITIVE_INFINITY;
  for (const [place, value] of x.entries()) {
    if (Math.abs(value - at) < distance) {
      distance = Math.abs(value - at);
      best = place;
    }
  }
  return best;
}

const FONT = "11px system-ui, sans-serif";
const DRAG_PIXELS_MIN = 5;
/** Two charts beside each other on A4, as the style sheet for paper has them; one alone. */
const PRINT_PIXELS = 310;
export const PRINT_PIXELS_WIDE = 668;
const INCREMENTS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400];
