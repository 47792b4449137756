// How long things took: the histogram over time, percentiles over time, and where a request spent its time.

import { useSignal } from "@preact/signals";
import { fineColumn, heatOf } from "../chart/heat.ts";
import { Heatmap } from "../chart/heatmap.tsx";
import { type Limit, type Line, Plot } from "../chart/plot.tsx";
import { time, valueFormat } from "../format/units.ts";
import { type Model, useModel } from "../model.ts";
import { mainTrend, metricsWithSamples, PHASES, spread } from "../store/rows.ts";
import { Section } from "./card.tsx";
import { middles, POINTS_MAX } from "./points.ts";

export function Latency() {
  const model = useModel();
  const chosen = useSignal<string | null>(null);
  const trends = metricsWithSamples(model.query, (metric) => metric.kind === "trend");
  const metric = trends.some((one) => one.name === chosen.value) ? chosen.value : mainTrend(model.query);
  if (metric === null) {
    return (
      <Section id="latency" title="Latency">
        <p class="card empty">Nothing was timed yet.</p>
      </Section>
    );
  }
  return (
    <Section id="latency" title="Latency">
      {trends.length > 1 && (
        <p class="picker">
          <label for="latency-metric">Show</label>
          <select id="latency-metric" value={metric} onChange={(event) => (chosen.value = event.currentTarget.value)}>
            {trends.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </p>
      )}
      <div class="plots">
        <Distribution model={model} metric={metric} />
        <Percentiles model={model} metric={metric} title="Percentiles over time" />
        <Phases model={model} />
      </div>
    </Section>
  );
}

function Distribution({ model, metric }: { model: Model; metric: string }) {
  const span = model.span.value;
  const tags = model.focusOf(metric);
  const points = model.query.timeline(metric, tags, span, POINTS_MAX, "fine", fineColumn);
  const middle = percentilePoints(model, metric);
  const format = valueFormat(model.run.metric(metric)?.contains ?? "time");
  return (
    <div class="wide">
      <Heatmap
        title={`Distribution of ${metric} over time`}
        heat={heatOf(points)}
        curves={[
          { label: "p50", values: middle.map((point) => point.value?.[0] ?? null) },
          { label: "p95", values: middle.map((point) => point.value?.[2] ?? null) },
          { label: "p99", values: middle.map((point) => point.value?.[3] ?? null) },
        ]}
        format={format}
        empty="No values in this part of the run."
      />
    </div>
  );
}

/** Median, p90, p95, p99, largest. */
function percentilePoints(model: Model, metric: string) {
  return model.query.timeline(metric, model.focusOf(metric), model.span.value, POINTS_MAX, "percentiles", (fold) =>
    fold.kind === "trend" && fold.histogram.count > 0 ? [...fold.histogram.quantiles(SHARES), fold.histogram.max] : null,
  );
}

export function Percentiles({ model, metric, title }: { model: Model; metric: string; title: string }) {
  const points = percentilePoints(model, metric);
  const all = spread(model.query.fold(metric, model.focusOf(metric), model.span.value));
  const format = valueFormat(model.run.metric(metric)?.contains ?? "time");
  const at = (place: number) => points.map((point) => point.value?.[place] ?? null);
  const summary = (value: number) => (all.count > 0 ? format(value) : null);
  const lines: Line[] = [
    { label: "p99", values: at(3), colour: "line-4", dash: "mixed", summary: summary(all.p99) },
    { label: "p95", values: at(2), colour: "line-3", dash: "dotted", summary: summary(all.p95) },
    { label: "p90", values: at(1), colour: "line-2", dash: "dashed", summary: summary(all.p90) },
    { label: "median", values: at(0), colour: "line-1", summary: summary(all.med) },
  ];
  return (
    <Plot
      title={title}
      note={model.unfiltered(metric)}
      x={middles(points)}
      lines={lines}
      limits={limitsOf(model, metric)}
      format={format}
      empty="No values in this part of the run."
    />
  );
}

/** Thresholds that are a line in a chart of percentiles. */
function limitsOf(model: Model, metric: string): Limit[] {
  return (model.run.head?.thresholds[metric] ?? []).flatMap((source) => {
    const found = /^\s*(?:p\(\d+(?:\.\d+)?\)|avg|med)\s*(?:<=?)\s*(\d+(?:\.\d+)?)\s*$/.exec(source);
    return found === null ? [] : [{ label: source.trim(), value: Number(found[1]) }];
  });
}

function Phases({ model }: { model: Model }) {
  const span = model.span.value;
  const lines = PHASES.map(([metric, label], place): Line => {
    const points = model.query.timeline(metric, model.focusOf(metric), span, POINTS_MAX, "mean", (fold) =>
      fold.kind === "trend" && fold.histogram.count > 0 ? fold.histogram.mean : null,
    );
    const all = spread(model.query.fold(metric, model.focusOf(metric), span));
    return {
      label,
      values: points.map((point) => point.value),
      colour: `cat-${place + 1}`,
      isFilled: true,
      summary: all.count > 0 ? time(all.mean) : null,
    };
  });
  const points = model.query.timeline("http_req_waiting", model.focusOf("http_req_waiting"), span, POINTS_MAX, "time", () => 0);
  return (
    <Plot
      title="Phases of a request, average"
      x={middles(points)}
      lines={lines}
      isStacked
      format={time}
      empty="No HTTP requests in this part of the run."
    />
  );
}

const SHARES = [0.5, 0.9, 0.95, 0.99];
