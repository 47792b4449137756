// Load and its failures over time: requests, errors by code, VUs and iterations against the plan, data.

import { useMemo } from "preact/hooks";
import { type Line, Plot } from "../chart/plot.tsx";
import { bytes, compact, count, percent, perSecond } from "../format/units.ts";
import { codeWords } from "../format/words.ts";
import type { Fold } from "../metrics/fold.ts";
import { type Model, useModel } from "../model.ts";
import { comparable, isMixed, plannedSum } from "../store/plan.ts";
import type { Point } from "../store/query.ts";
import { counterTotal, secondsOf } from "../store/rows.ts";
import type { Scenario } from "../stream/records.ts";
import { Section } from "./card.tsx";
import { middles, POINTS_MAX } from "./points.ts";

export function Traffic() {
  const model = useModel();
  return (
    <Section id="load" title="Load">
      <div class="plots plots-filled">
        <Requests model={model} />
        <Errors model={model} />
        <ActiveVus model={model} />
        <Iterations model={model} />
        <Data model={model} />
      </div>
    </Section>
  );
}

/** A counter's rate over time. */
export function rates(model: Model, metric: string): Point<number>[] {
  return model.query.timeline(metric, model.focusOf(metric), model.span.value, POINTS_MAX, "rate", (fold, seconds) =>
    perSecondOf(fold, seconds),
  );
}

function perSecondOf(fold: Fold, seconds: number): number {
  return seconds > 0 ? counterTotal(fold) / seconds : 0;
}

function Requests({ model }: { model: Model }) {
  const points = rates(model, "http_reqs");
  const failed = model.query.timeline(
    "http_req_failed",
    model.focusOf("http_req_failed"),
    model.span.value,
    POINTS_MAX,
    "failed",
    (fold, seconds) => (fold.kind === "rate" && seconds > 0 ? fold.hits / seconds : 0),
  );
  const seconds = secondsOf(model.query, model.span.value);
  const total = counterTotal(model.query.fold("http_reqs", model.focusOf("http_reqs"), model.span.value));
  const rate = model.query.fold("http_req_failed", model.focusOf("http_req_failed"), model.span.value);
  const lines: Line[] = [
    {
      label: "requests",
      values: points.map((point) => point.value),
      colour: "line-1",
      isFilled: true,
      summary: perSecond(seconds > 0 ? total / seconds : 0),
    },
    {
      label: "failed",
      values: failed.map((point) => point.value),
      colour: "bad",
      dash: "dashed",
      summary: rate?.kind === "rate" ? percent(rate.share) : null,
    },
  ];
  return (
    <Plot
      title="Requests per second"
      x={middles(points)}
      lines={lines}
      format={perSecond}
      empty="No HTTP requests in this part of the run."
    />
  );
}

function Errors({ model }: { model: Model }) {
  const { query } = model;
  const span = model.span.value;
  const tags = model.focusOf("http_reqs");
  // What has no error code and still was not expected: by its status.
  const keyOf = (has: Readonly<Record<string, string>>): string | null =>
    has.error_code ? codeWords(has.error_code) : has.expected_response === "false" ? `status ${has.status ?? "unknown"}` : null;
  const totals = [...query.groups("http_reqs", (series) => keyOf(series.tags), span, tags)]
    .map(([key, fold]) => ({ key, total: counterTotal(fold) }))
    .sort((a, b) => b.total - a.total);
  const shown = totals.slice(0, ERRORS_SHOWN);
  const points = query.timeline("http_reqs", tags, span, POINTS_MAX, "time", () => 0);
  const lines = shown.map(({ key, total }, place): Line => {
    const ids = query.series("http_reqs", tags).filter((id) => keyOf(query.run.series[id]?.tags ?? {}) === key);
    const values = query.timelineOf("counter", ids, span, POINTS_MAX, `error ${key} ${JSON.stringify(tags)}`, perSecondOf);
    return {
      label: key,
      values: values.map((point) => point.value),
      colour: `cat-${place + 1}`,
      isFilled: true,
      summary: count(total),
    };
  });
  const rest = totals.length - shown.length;
  return (
    <Plot
      title="Errors per second, by code"
      note={rest > 0 ? `The ${shown.length} most frequent; ${rest} more are in the tables.` : null}
      x={middles(points)}
      lines={lines}
      isStacked
      format={perSecond}
      empty={
        points.length > 0
          ? "No errors. Every request had the response it expected."
          : "No HTTP requests in this part of the run."
      }
    />
  );
}

function ActiveVus({ model }: { model: Model }) {
  const scenarios = model.run.head?.scenarios ?? [];
  const points = model.query.timeline("vus", model.focusOf("vus"), model.span.value, POINTS_MAX, "last", (fold) =>
    fold.kind === "gauge" && !fold.isEmpty ? fold.last : null,
  );
  const compared = comparable(scenarios, false, model.focusOf("vus"));
  const planned = compared === null ? [] : planOver(compared, points);
  const lines: Line[] = [
    {
      label: "active",
      values: points.map((point) => point.value),
      colour: "line-2",
      isFilled: true,
      summary: last(points.map((point) => point.value)),
    },
  ];
  if (planned.some((value) => value !== null)) {
    lines.push({ label: "planned", values: planned, colour: "ink", dash: "dotted", summary: last(planned) });
  }
  const mixed = isMixed(scenarios) ? "No plan beside it: some scenarios plan iterations per second instead of VUs." : null;
  return (
    <Plot
      title="Virtual users"
      note={notes(model.unfiltered("vus"), mixed)}
      x={middles(points)}
      lines={lines}
      format={compact}
      empty="No VUs yet."
    />
  );
}

function Iterations({ model }: { model: Model }) {
  const scenarios = model.run.head?.scenarios ?? [];
  const points = rates(model, "iterations");
  const dropped = rates(model, "dropped_iterations");
  const droppedTotal = counterTotal(
    model.query.fold("dropped_iterations", model.focusOf("dropped_iterations"), model.span.value),
  );
  const seconds = secondsOf(model.query, model.span.value);
  const total = counterTotal(model.query.fold("iterations", model.focusOf("iterations"), model.span.value));
  const lines: Line[] = [
    {
      label: "completed",
      values: points.map((point) => point.value),
      colour: "line-3",
      isFilled: true,
      summary: perSecond(seconds > 0 ? total / seconds : 0),
    },
  ];
  const compared = comparable(scenarios, true, model.focusOf("iterations"));
  if (compared !== null) {
    lines.push({
      label: "planned starts",
      values: planOver(compared, points),
      colour: "ink",
      dash: "dotted",
      summary: null,
    });
  }
  const mixed =
    compared === null && isMixed(scenarios)
      ? "No plan beside it: some scenarios plan VUs instead of iterations. Narrow the page to one that has a rate."
      : null;
  if (droppedTotal > 0) {
    lines.push({
      label: "dropped",
      values: dropped.map((point) => point.value),
      colour: "bad",
      dash: "dashed",
      summary: count(droppedTotal),
    });
  }
  return (
    <Plot
      title="Iterations per second"
      note={notes(model.unfiltered("iterations"), mixed)}
      x={middles(points)}
      lines={lines}
      format={perSecond}
      empty="No iteration has ended yet."
    />
  );
}

function Data({ model }: { model: Model }) {
  const [received, sent] = [rates(model, "data_received"), rates(model, "data_sent")];
  const total = (metric: string) => bytes(counterTotal(model.query.fold(metric, model.focusOf(metric), model.span.value)));
  const lines = useMemo(
    (): Line[] => [
      { label: "received", values: received.map((point) => point.value), colour: "line-1", summary: total("data_received") },
      {
        label: "sent",
        values: sent.map((point) => point.value),
        colour: "line-4",
        dash: "dashed",
        summary: total("data_sent"),
      },
    ],
    [received, sent],
  );
  return (
    <Plot
      title="Data per second"
      note={model.unfiltered("data_received")}
      x={middles(received)}
      lines={lines}
      format={(value) => `${bytes(value)}/s`}
      empty="Nothing was sent or received."
    />
  );
}

/** What scenarios plan at the points of a chart. */
function planOver(scenarios: readonly Scenario[], points: readonly Point<unknown>[]): (number | null)[] {
  return points.map((point) => plannedSum(scenarios, (point.fromMs + point.untilMs) / 2));
}

function notes(...some: (string | null)[]): string | null {
  return some.filter((one) => one !== null).join(" ") || null;
}

function last(values: (number | null)[]): string | null {
  const value = values.at(-1) ?? null;
  return value === null ? null : compact(value);
}

const ERRORS_SHOWN = 8;
