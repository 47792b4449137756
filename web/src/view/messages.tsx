// What went wrong, grouped: endings of requests, and lines of the log. All of it is text, whatever it looks like.

import { useSignal } from "@preact/signals";
import { clock, count, percent } from "../format/units.ts";
import { endingWords, isFailure } from "../format/words.ts";
import { useModel } from "../model.ts";
import { keyOf, OutcomeStore } from "../store/outcomes.ts";
import { Section, Sign } from "./card.tsx";
import { Grid } from "./grid.tsx";

export function Messages() {
  const model = useModel();
  const { outcomes, openOutcomes, logs } = model.run;
  const all = new OutcomeStore();
  all.add([...outcomes.rows.values()], null, null);
  all.add(openOutcomes, null, null);
  const rows = [...all.rows.values()].map((row) => ({ ...row, ...timesOf(outcomes.rows.get(keyOf(row))) }));
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  return (
    <Section
      id="messages"
      title="Errors and log"
      note={model.span.value === null ? undefined : "Of the whole run, whatever time is selected above."}
    >
      <h3>How requests ended</h3>
      <Grid
        id="endings"
        caption="How requests ended"
        rows={rows}
        keyOf={(row) => row.key}
        sortedBy="Requests"
        text={(row) => `${endingWords(row)} ${row.code ?? ""} ${row.example}`}
        empty="No HTTP request has ended yet."
        columns={[
          {
            name: "Ending",
            isText: true,
            value: (row) => endingWords(row),
            show: (row) => (
              <span class="with-sign">
                <Sign tone={isFailure(row) ? "bad" : "good"} />
                {endingWords(row)}
              </span>
            ),
          },
          { name: "Code", value: (row) => row.code, show: (row) => row.code ?? "" },
          { name: "Requests", value: (row) => row.count, show: (row) => count(row.count) },
          { name: "Share", value: (row) => row.count, show: (row) => percent(total > 0 ? row.count / total : 0) },
          { name: "First", value: (row) => row.firstMs, show: (row) => (row.firstMs === null ? "" : clock(row.firstMs)) },
          { name: "Last", value: (row) => row.lastMs, show: (row) => (row.lastMs === null ? "" : clock(row.lastMs)) },
          {
            name: "For example",
            isText: true,
            value: (row) => row.example,
            show: (row) => <span class="example">{row.example}</span>,
          },
        ]}
      />
      <h3>Log</h3>
      <LogLines />
      {logs.left > 0 && <p class="note">{count(logs.left)} more different lines are not shown: there were too many.</p>}
    </Section>
  );
}

function LogLines() {
  const model = useModel();
  const level = useSignal("all");
  const lines = [...model.run.logs.lines.values()];
  const levels = [...new Set(lines.map((line) => line.level))].sort();
  const rows = level.value === "all" ? lines : lines.filter((line) => line.level === level.value);
  return (
    <>
      {levels.length > 1 && (
        <div class="choices" role="radiogroup" aria-label="Log level">
          {["all", ...levels].map((one) => (
            <label key={one} class={one === level.value ? "chosen" : ""}>
              <input type="radio" name="level" checked={one === level.value} onChange={() => (level.value = one)} />
              {one}
            </label>
          ))}
        </div>
      )}
      <Grid
        id="log"
        caption="Log lines, identical ones counted"
        rows={rows}
        keyOf={(line) => JSON.stringify([line.line, line.level, line.message, line.fields])}
        sortedBy="Last"
        text={(line) => `${line.level} ${line.message} ${fieldsOf(line.fields)}`}
        empty="Nothing was logged."
        columns={[
          { name: "Last", value: (line) => line.atMs, show: (line) => (line.atMs === null ? "" : clock(line.atMs)) },
          {
            name: "Level",
            isText: true,
            value: (line) => line.level,
            show: (line) => (
              <span class="with-sign">
                <Sign tone={TONES[line.level] ?? "none"} />
                {line.level}
              </span>
            ),
          },
          { name: "Times", value: (line) => line.count, show: (line) => count(line.count) },
          {
            name: "Message",
            isText: true,
            value: (line) => line.message,
            show: (line) => (
              <span class="log-message">
                {line.message} <span class="soft">{fieldsOf(line.fields)}</span>
              </span>
            ),
          },
        ]}
      />
    </>
  );
}

function timesOf(row: { firstMs: number | null; lastMs: number | null } | undefined) {
  return { firstMs: row?.firstMs ?? null, lastMs: row?.lastMs ?? null };
}

function fieldsOf(fields: Record<string, string>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

const TONES: Record<string, "good" | "warn" | "bad" | "none"> = {
  error: "bad",
  fatal: "bad",
  panic: "bad",
  warning: "warn",
  warn: "warn",
};
