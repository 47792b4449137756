// What a report shows that holds only a summary: verdicts, checks and metrics as its JSON has them, and no course of the run.

import { Fragment } from "preact";
import { count, percent, significant, time } from "../format/units.ts";
import { tagWords } from "../format/words.ts";
import { useModel } from "../model.ts";
import { readSummary, type SummaryCheck, type SummaryMetric } from "../store/summary.ts";
import { Section } from "./card.tsx";
import { type Column, Grid } from "./grid.tsx";
import { MeasurementCard, ThresholdCard } from "./verdict.tsx";

export function SummaryOnly() {
  const model = useModel();
  const { metrics, thresholds, checks, durationMs, verdict, reasons, notes } = readSummary(model.summary.value ?? {});
  return (
    <>
      <div class="verdicts">
        <ThresholdCard thresholds={thresholds} stage="over" written={() => ""}>
          {durationMs !== null && <p class="ending">The run took {time(durationMs)}.</p>}
        </ThresholdCard>
        {/* Summaries of k6 have none. */}
        {verdict !== null && <MeasurementCard verdict={verdict} isOver reasons={reasons} notes={notes} />}
      </div>
      {checks.length > 0 && (
        <Section id="checks" title="Checks">
          <Grid
            id="checks"
            caption="Checks"
            rows={checks}
            columns={checkColumns(checks)}
            keyOf={(row) => `${row.group} ${row.name}`}
            sortedBy="Failed"
            text={(row) => `${row.name} ${row.group}`}
            empty="No check was made."
          />
        </Section>
      )}
      <Section
        id="summary"
        title="Metrics"
        note="This report was made from a summary: it has the numbers of the whole run and no times, so there are no charts. Times are in milliseconds and data in bytes."
      >
        <Grid
          id="summary-metrics"
          caption="Metrics"
          rows={metrics}
          columns={METRIC_COLUMNS}
          keyOf={(row) => row.name}
          sortedBy="Metric"
          text={(row) => row.name}
          empty="The summary has no metrics."
        />
      </Section>
    </>
  );
}

const METRIC_COLUMNS: Column<SummaryMetric>[] = [
  { name: "Metric", isText: true, value: (row) => row.name, show: (row) => row.name },
  {
    name: "Values",
    isText: true,
    value: (row) => row.values.length,
    show: (row) =>
      row.values.map(([key, value]) => (
        <Fragment key={key}>
          <span class="pair">
            <span class="soft">{key}</span> {written(row, key, value)}
          </span>{" "}
        </Fragment>
      )),
  },
];

function checkColumns(checks: SummaryCheck[]): Column<SummaryCheck>[] {
  const group: Column<SummaryCheck> = {
    name: "Group",
    isText: true,
    value: (row) => row.group,
    show: (row) => tagWords("group", row.group),
  };
  return [
    { name: "Check", isText: true, value: (row) => row.name, show: (row) => row.name },
    ...(checks.some((row) => row.group !== "") ? [group] : []),
    { name: "Passed", value: (row) => row.passes, show: (row) => count(row.passes) },
    {
      name: "Failed",
      value: (row) => row.fails,
      show: (row) => <span class={row.fails > 0 ? "bad" : ""}>{count(row.fails)}</span>,
    },
    {
      name: "Share passed",
      value: (row) => -share(row),
      show: (row) => percent(share(row)),
    },
  ];
}

function share({ passes, fails }: SummaryCheck): number {
  return passes + fails === 0 ? 0 : passes / (passes + fails);
}

function written({ isShare }: SummaryMetric, key: string, value: number): string {
  if (isShare && (key === "rate" || key === "value")) {
    return percent(value);
  }
  return Number.isInteger(value) ? count(value) : significant(value);
}
