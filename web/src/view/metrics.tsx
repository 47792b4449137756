// Metrics that the script made, and those of other protocols, as charts; and all metrics as a table.

import { type Line, Plot } from "../chart/plot.tsx";
import { bytes, compact, count, percent, perSecond, valueFormat } from "../format/units.ts";
import { type Model, useModel } from "../model.ts";
import { counterTotal, metricsWithSamples, secondsOf, spread } from "../store/rows.ts";
import type { Metric } from "../stream/records.ts";
import { Section } from "./card.tsx";
import { type Column, Grid } from "./grid.tsx";
import { Percentiles } from "./latency.tsx";
import { middles, POINTS_MAX } from "./points.ts";
import { rates } from "./traffic.tsx";

/** Charts; more metrics are only in the table. */
const CHARTS_MAX = 40;
/** What has charts of its own above. */
const SHOWN_ELSEWHERE = /^(http_req|vus|iterations$|dropped_iterations$|checks$|data_)/;

export function Metrics() {
  const model = useModel();
  const custom = metricsWithSamples(model.query, (metric) => metric.isCustom);
  const others = metricsWithSamples(model.query, (metric) => !metric.isCustom && !SHOWN_ELSEWHERE.test(metric.name));
  const charts = [...custom, ...others].slice(0, CHARTS_MAX);
  return (
    <Section
      id="metrics"
      title="Metrics"
      note={custom.length === 0 ? "The script has no metrics of its own; these are the others." : undefined}
    >
      {charts.length > 0 && (
        <div class="plots plots-filled">
          {charts.map((metric) => (
            <MetricPlot key={metric.name} model={model} metric={metric} />
          ))}
        </div>
      )}
      <AllMetrics model={model} />
    </Section>
  );
}

function MetricPlot({ model, metric }: { model: Model; metric: Metric }) {
  const { name, kind, contains } = metric;
  const empty = "No samples in this part of the run.";
  const format = valueFormat(contains);
  const note = model.unfiltered(name);
  if (kind === "trend") {
    return <Percentiles model={model} metric={name} title={name} />;
  }
  if (kind === "counter") {
    const points = rates(model, name);
    const total = counterTotal(model.query.fold(name, model.focusOf(name), model.span.value));
    const perS = contains === "default" ? perSecond : (value: number) => `${format(value)}/s`;
    const line: Line = {
      label: "per second",
      values: points.map((point) => point.value),
      colour: "line-1",
      isFilled: true,
      summary: `${totalOf(metric, total)} in all`,
    };
    return <Plot title={name} note={note} x={middles(points)} lines={[line]} format={perS} empty={empty} />;
  }
  if (kind === "rate") {
    const points = model.query.timeline(name, model.focusOf(name), model.span.value, POINTS_MAX, "share", (fold) =>
      fold.kind === "rate" && !fold.isEmpty ? fold.share : null,
    );
    const all = model.query.fold(name, model.focusOf(name), model.span.value);
    const line: Line = {
      label: "share",
      values: points.map((point) => point.value),
      colour: "line-2",
      isFilled: true,
      summary: all?.kind === "rate" ? percent(all.share) : null,
    };
    return <Plot title={name} note={note} x={middles(points)} lines={[line]} format={percent} empty={empty} />;
  }
  const points = model.query.timeline(name, model.focusOf(name), model.span.value, POINTS_MAX, "gauge", (fold) =>
    fold.kind === "gauge" && !fold.isEmpty ? [fold.last, fold.min, fold.max] : null,
  );
  const last = points.at(-1)?.value?.[0];
  const lines: Line[] = [
    {
      label: "last",
      values: points.map((point) => point.value?.[0] ?? null),
      colour: "line-3",
      summary: last === undefined ? null : format(last),
    },
    { label: "largest", values: points.map((point) => point.value?.[2] ?? null), colour: "line-4", dash: "dashed" },
    { label: "smallest", values: points.map((point) => point.value?.[1] ?? null), colour: "line-2", dash: "dotted" },
  ];
  return <Plot title={name} note={note} x={middles(points)} lines={lines} format={format} empty={empty} />;
}

interface MetricRow {
  metric: Metric;
  total: number | null;
  rate: number | null;
  mean: number | null;
  min: number | null;
  med: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
}

function AllMetrics({ model }: { model: Model }) {
  const span = model.span.value;
  const seconds = secondsOf(model.query, span);
  const rows = metricsWithSamples(model.query, () => true).flatMap((metric): MetricRow[] => {
    const fold = model.query.fold(metric.name, model.focusOf(metric.name), span);
    const nothing = { total: null, rate: null, mean: null, min: null, med: null, p90: null, p95: null, p99: null, max: null };
    if (fold === null || fold.isEmpty) {
      return [];
    }
    switch (fold.kind) {
      case "counter":
        return [{ metric, ...nothing, total: fold.total, rate: seconds > 0 ? fold.total / seconds : null }];
      case "rate":
        return [{ metric, ...nothing, total: fold.total, mean: fold.share }];
      case "gauge":
        return [{ metric, ...nothing, mean: fold.last, min: fold.min, max: fold.max }];
      case "trend":
        break;
    }
    const { count: total, ...rest } = spread(fold);
    return [{ metric, ...nothing, total, ...rest }];
  });
  const column = (name: string, value: (row: MetricRow) => number | null, help?: string): Column<MetricRow> => ({
    name,
    value,
    ...(help === undefined ? {} : { help }),
    show: (row) => {
      const number = value(row);
      return number === null ? (
        <span class="soft">–</span>
      ) : row.metric.kind === "rate" ? (
        percent(number)
      ) : (
        valueFormat(row.metric.contains)(number)
      );
    },
  });
  return (
    <Grid
      id="all-metrics"
      caption="All metrics"
      rows={rows}
      keyOf={(row) => row.metric.name}
      sortedBy="Metric"
      text={(row) => `${row.metric.name} ${row.metric.kind}`}
      empty="Nothing was measured in this part of the run."
      columns={[
        {
          name: "Metric",
          isText: true,
          value: (row) => row.metric.name,
          show: (row) => (
            <>
              {row.metric.name}
              {model.unfiltered(row.metric.name) !== null && <span class="soft"> (not filtered)</span>}
            </>
          ),
        },
        { name: "Kind", isText: true, value: (row) => row.metric.kind, show: (row) => row.metric.kind },
        {
          name: "Count",
          help: "How many values there were; of a counter, its sum",
          value: (row) => row.total,
          show: (row) => (row.total === null ? <span class="soft">–</span> : totalOf(row.metric, row.total)),
        },
        {
          name: "Rate",
          value: (row) => row.rate,
          show: (row) =>
            row.rate === null ? (
              <span class="soft">–</span>
            ) : row.metric.contains === "data" ? (
              `${bytes(row.rate)}/s`
            ) : (
              `${compact(row.rate)}/s`
            ),
        },
        column("Average", (row) => row.mean, "Of a rate its share, of a gauge its last value"),
        column("Min", (row) => row.min),
        column("Median", (row) => row.med),
        column("p90", (row) => row.p90),
        column("p95", (row) => row.p95),
        column("p99", (row) => row.p99),
        column("Max", (row) => row.max),
      ]}
    />
  );
}

function totalOf(metric: Metric, total: number): string {
  return metric.kind === "counter" && metric.contains !== "default" ? valueFormat(metric.contains)(total) : count(total);
}
