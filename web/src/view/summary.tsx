// What a report shows that holds only a summary: the metrics of it, as its JSON has them.

import { Fragment } from "preact";
import { count, percent, significant } from "../format/units.ts";
import { useModel } from "../model.ts";
import { isObject } from "../stream/records.ts";
import { Section } from "./card.tsx";

export function SummaryOnly() {
  const model = useModel();
  const metrics = model.summary.value?.metrics;
  const rows = Object.entries(isObject(metrics) ? metrics : {}).map(([name, metric]) => ({ name, values: numbersOf(metric) }));
  return (
    <Section
      id="summary"
      title="Summary"
      note="This report was made from a summary: it knows the run as a whole, and nothing of its course."
    >
      <div class="card grid">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <section class="scroll" tabIndex={0} aria-label="Metrics">
          <table>
            <thead>
              <tr>
                <th scope="col" class="text">
                  Metric
                </th>
                <th scope="col" class="text">
                  Values
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, values }) => (
                <tr key={name}>
                  <th scope="row" class="text">
                    {name}
                  </th>
                  <td class="text">
                    {values.map(([key, value]) => (
                      <Fragment key={key}>
                        <span class="pair">
                          <span class="soft">{key}</span> {written(key, value)}
                        </span>{" "}
                      </Fragment>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        {rows.length === 0 && <p class="empty">The summary has no metrics.</p>}
      </div>
    </Section>
  );
}

function written(key: string, value: number): string {
  if (key === "rate" && value <= 1 && value >= 0) {
    return percent(value);
  }
  return Number.isInteger(value) ? count(value) : significant(value);
}

/** The numbers of a metric: in `values`, or beside its name as in older summaries. */
function numbersOf(metric: unknown): [string, number][] {
  if (!isObject(metric)) {
    return [];
  }
  const holder = isObject(metric.values) ? metric.values : metric;
  return Object.entries(holder).filter((pair): pair is [string, number] => typeof pair[1] === "number");
}
