// Requests by what they were for, and checks. A row narrows the whole page to what it stands for.

import { useSignal } from "@preact/signals";
import { count, percent, perSecond, time } from "../format/units.ts";
import { tagWords } from "../format/words.ts";
import { useModel } from "../model.ts";
import { type CheckRow, checkRows, type RequestRow, requestRows } from "../store/rows.ts";
import { Section } from "./card.tsx";
import { type Column, Grid } from "./grid.tsx";

const DIMENSIONS = [
  ["name", "URL"],
  ["scenario", "Scenario"],
  ["group", "Group"],
  ["method", "Method"],
  ["status", "Status"],
  ["error_code", "Error"],
  ["load_zone", "Load zone"],
] as const;

export function Breakdown() {
  const model = useModel();
  const chosen = useSignal<string>("name");
  const present = DIMENSIONS.filter(
    ([tag]) => model.query.hasTag("http_reqs", tag) || model.query.hasTag("http_req_duration", tag),
  );
  const [tag, title] = present.find(([one]) => one === chosen.value) ?? present[0] ?? ["name", "URL"];
  const rows = requestRows(model.query, tag, model.span.value, model.focusOf("http_reqs"));
  return (
    <Section id="requests" title="Requests">
      {present.length > 1 && (
        <div class="choices" role="radiogroup" aria-label="Requests by">
          {present.map(([one, name]) => (
            <label key={one} class={one === tag ? "chosen" : ""}>
              <input type="radio" name="dimension" checked={one === tag} onChange={() => (chosen.value = one)} />
              {name}
            </label>
          ))}
        </div>
      )}
      <Grid
        id="requests"
        caption={`Requests by ${title.toLowerCase()}`}
        rows={rows}
        columns={columnsOf(tag, title, (value) => model.toggleFocus(tag, value), model.focus.value[tag])}
        keyOf={(row) => row.key}
        sortedBy="Requests"
        text={(row) => tagWords(tag, row.key)}
        isMarked={(row) => model.focus.value[tag] === row.key}
        onRow={(row) => model.toggleFocus(tag, row.key)}
        empty="No HTTP requests in this part of the run."
      />
    </Section>
  );
}

function columnsOf(
  tag: string,
  title: string,
  onFocus: (value: string) => void,
  focused: string | undefined,
): Column<RequestRow>[] {
  const times = (name: string, value: (row: RequestRow) => number): Column<RequestRow> => ({
    name,
    value,
    show: (row) => time(value(row)),
  });
  return [
    {
      name: title,
      isText: true,
      value: (row) => tagWords(tag, row.key),
      show: (row) => (
        <button
          type="button"
          class="link"
          aria-pressed={focused === row.key}
          title={focused === row.key ? "Show everything again" : "Narrow the page to this"}
          onClick={() => onFocus(row.key)}
        >
          {tagWords(tag, row.key)}
        </button>
      ),
    },
    { name: "Requests", value: (row) => row.requests, show: (row) => count(row.requests) },
    { name: "Rate", value: (row) => row.perSecond, show: (row) => perSecond(row.perSecond) },
    {
      name: "Failed",
      value: (row) => row.failed,
      show: (row) => (row.failed === null ? "–" : <span class={row.failed > 0 ? "bad" : ""}>{percent(row.failed)}</span>),
    },
    times("Average", (row) => row.mean),
    times("Min", (row) => row.min),
    times("Median", (row) => row.med),
    times("p90", (row) => row.p90),
    times("p95", (row) => row.p95),
    times("p99", (row) => row.p99),
    times("Max", (row) => row.max),
  ];
}

export function Checks() {
  const model = useModel();
  const rows = checkRows(model.query, model.span.value, model.focusOf("checks"));
  if (model.run.seriesOf("checks").length === 0) {
    return null;
  }
  const hasGroups = rows.some((row) => row.group !== "");
  const columns: Column<CheckRow>[] = [
    { name: "Check", isText: true, value: (row) => row.key, show: (row) => row.key },
    ...(hasGroups
      ? [
          {
            name: "Group",
            isText: true,
            value: (row: CheckRow) => row.group,
            show: (row: CheckRow) => tagWords("group", row.group),
          },
        ]
      : []),
    { name: "Passed", value: (row) => row.passes, show: (row) => count(row.passes) },
    {
      name: "Failed",
      value: (row) => row.fails,
      show: (row) => <span class={row.fails > 0 ? "bad" : ""}>{count(row.fails)}</span>,
    },
    {
      name: "Share passed",
      value: (row) => -row.share,
      show: (row) => (
        <span class="share">
          <meter min="0" max="1" value={row.share} aria-hidden="true" />
          {percent(row.share)}
        </span>
      ),
    },
  ];
  return (
    <Section id="checks" title="Checks" note={model.unfiltered("checks") ?? undefined}>
      <Grid
        id="checks"
        caption="Checks"
        rows={rows}
        columns={columns}
        keyOf={(row) => `${row.group} ${row.key}`}
        sortedBy="Failed"
        text={(row) => `${row.key} ${row.group}`}
        empty="No check was made in this part of the run."
      />
    </Section>
  );
}
