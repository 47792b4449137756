// How the generators fared: what the verdict on the measurement rests on.

import { type Line, Plot } from "../chart/plot.tsx";
import { bytes, count, percent, significant, time } from "../format/units.ts";
import { type Model, useModel } from "../model.ts";
import type { HealthField, HealthPoint } from "../store/health.ts";
import type { AgentHealth, AgentState } from "../stream/records.ts";
import { Section, Sign } from "./card.tsx";
import { type Column, Grid } from "./grid.tsx";

/** Lines of a chart; of more agents the worst is shown. */
const AGENTS_SHOWN = 8;

export function Generator() {
  const model = useModel();
  const points = pointsIn(model);
  const numbers = [...new Set(points.flatMap((point) => point.agents.map((agent) => agent.agent)))].sort((a, b) => a - b);
  const x = points.map((point) => (point.fromMs + point.atMs) / 2_000);
  const lines = (
    value: (agent: AgentHealth) => number | null,
    format: (value: number) => string,
    how: "max" | "mean",
  ): Line[] => {
    if (numbers.length > AGENTS_SHOWN) {
      const worst = points.map((point) => largest(point.agents.map(value)));
      return [
        { label: "the worst agent", values: worst, colour: "line-1", isFilled: true, summary: shown(largest(worst), format) },
      ];
    }
    return numbers.map((number, place): Line => {
      const values = points.map((point) => {
        const agent = point.agents.find((one) => one.agent === number);
        return agent === undefined ? null : value(agent);
      });
      const summary = how === "max" ? largest(values) : mean(values);
      return {
        label: numbers.length === 1 ? (how === "max" ? "worst" : "average") : nameOf(model, number),
        values,
        colour: `cat-${(place % 8) + 1}`,
        dash: (["solid", "dashed", "dotted", "mixed"] as const)[place % 4] ?? "solid",
        isFilled: numbers.length === 1,
        summary: shown(summary, format),
      };
    });
  };
  const empty = "The generator has not said anything yet.";
  return (
    <Section id="generator" title="Generator" note="Whether these machines could do what the test asked of them.">
      <div class="plots">
        <Plot
          title="CPU, of the cores it may use"
          x={x}
          lines={lines(cpuShare, percent, "mean")}
          format={percent}
          empty={empty}
        />
        <Plot
          title="Lateness of timers"
          note="The worst in each second."
          x={x}
          lines={lines((agent) => agent.timerLagMs, time, "max")}
          format={time}
          empty={empty}
        />
        <Plot title="Memory" x={x} lines={lines((agent) => agent.rssBytes, bytes, "max")} format={bytes} empty={empty} />
        <Plot
          title="Time that threads waited for a core"
          x={x}
          lines={lines((agent) => agent.runQueue, percent, "max")}
          format={percent}
          empty={empty}
        />
      </div>
      <Agents model={model} points={points} />
    </Section>
  );
}

interface AgentRow {
  agent: number;
  state: AgentState | null;
  health: AgentHealth | null;
  cpu: number | null;
  lagMs: number | null;
  retransmitted: number | null;
}

function Agents({ model, points }: { model: Model; points: HealthPoint[] }) {
  const states = model.run.state?.agents ?? [];
  const last = points.at(-1)?.agents ?? [];
  const numbers = [...new Set([...states.map((one) => one.agent), ...last.map((one) => one.agent)])];
  const rows = numbers.map((agent): AgentRow => {
    const of = (field: HealthField) => points.map((point) => point.agents.find((one) => one.agent === agent)?.[field] ?? null);
    return {
      agent,
      state: states.find((one) => one.agent === agent) ?? null,
      health: last.find((one) => one.agent === agent) ?? null,
      cpu: mean(
        points
          .map((point) => point.agents.find((one) => one.agent === agent))
          .map((one) => (one === undefined ? null : cpuShare(one))),
      ),
      lagMs: largest(of("timerLagMs")),
      retransmitted: sum(of("retransmitted")),
    };
  });
  const number = (
    name: string,
    value: (row: AgentRow) => number | null,
    format: (value: number) => string,
  ): Column<AgentRow> => ({
    name,
    value,
    show: (row) => shown(value(row), format) ?? <span class="soft">–</span>,
  });
  return (
    <Grid
      id="agents"
      caption="Agents"
      rows={rows}
      keyOf={(row) => String(row.agent)}
      sortedBy="Agent"
      empty="No agent has reported yet."
      text={(row) => nameOf(model, row.agent)}
      columns={[
        { name: "Agent", isText: true, value: (row) => nameOf(model, row.agent), show: (row) => nameOf(model, row.agent) },
        {
          name: "State",
          isText: true,
          value: (row) => stateOf(row.state).text,
          show: (row) => (
            <span class="with-sign" title={row.state?.reasons.join("\n")}>
              <Sign tone={stateOf(row.state).tone} />
              {stateOf(row.state).text}
            </span>
          ),
        },
        number("Share", (row) => row.state?.share ?? null, percent),
        number("VUs", (row) => row.state?.vus ?? null, count),
        number("Iterations", (row) => row.state?.iterations ?? null, count),
        number("Requests", (row) => row.state?.requests ?? null, count),
        number("CPU", (row) => row.cpu, percent),
        number("Cores", (row) => row.health?.availableCores ?? null, significant),
        number("Timer lateness", (row) => row.lagMs, time),
        number("Memory", (row) => row.health?.rssBytes ?? null, bytes),
        number("Open files", (row) => row.health?.openFiles ?? null, count),
        number("Sent again", (row) => row.retransmitted, count),
        number("Began late by", (row) => row.state?.startLateMs ?? null, time),
      ]}
    />
  );
}

function pointsIn(model: Model): HealthPoint[] {
  const span = model.span.value;
  const points = model.run.health.points;
  return span === null ? points : points.filter((point) => point.atMs > span.fromMs && point.fromMs < span.untilMs);
}

function nameOf(model: Model, agent: number): string {
  return model.run.state?.agents.find((one) => one.agent === agent)?.name || (agent === 0 ? "this process" : `agent ${agent}`);
}

function stateOf(state: AgentState | null): { text: string; tone: "good" | "warn" | "bad" | "none" } {
  if (state === null) {
    return { text: "unknown", tone: "none" };
  }
  if (state.isLost) {
    return { text: "lost", tone: "bad" };
  }
  const tones = { VALID: "good", SUSPECT: "warn", INVALID: "bad" } as const;
  return state.verdict === null
    ? { text: "running", tone: "none" }
    : { text: state.verdict.toLowerCase(), tone: tones[state.verdict] };
}

function cpuShare(agent: AgentHealth): number | null {
  return agent.cpuCores === null || !agent.availableCores ? null : agent.cpuCores / agent.availableCores;
}

function shown(value: number | null, format: (value: number) => string): string | null {
  return value === null ? null : format(value);
}

function largest(values: (number | null)[]): number | null {
  return values.reduce((most, one) => (one === null ? most : most === null ? one : Math.max(most, one)), null);
}

function sum(values: (number | null)[]): number | null {
  return values.reduce((all, one) => (one === null ? all : (all ?? 0) + one), null);
}

function mean(values: (number | null)[]): number | null {
  const known = values.filter((one): one is number => one !== null);
  return known.length === 0 ? null : known.reduce((all, one) => all + one, 0) / known.length;
}
