// How the generators fared, second by second, a bounded number of points: neighbours become one when there are too many.

import type { AgentHealth, Health } from "../stream/records.ts";

const POINTS_MAX = 1_200;

/** How two values of a field become one. */
const FIELDS = {
  cpuCores: "mean",
  availableCores: "max",
  machineCores: "mean",
  rssBytes: "max",
  openFiles: "max",
  timerLagMs: "max",
  runQueue: "max",
  busiestThreadCores: "max",
  memoryUsed: "max",
  receivedBytes: "sum",
  sentBytes: "sum",
  retransmitted: "sum",
} as const satisfies Record<Exclude<keyof AgentHealth, "agent">, "mean" | "max" | "sum">;

export type HealthField = keyof typeof FIELDS;

export interface HealthPoint {
  fromMs: number;
  atMs: number;
  agents: AgentHealth[];
}

export class HealthStore {
  readonly points: HealthPoint[] = [];

  add(health: Health): void {
    const before = this.points.at(-1);
    this.points.push({
      fromMs: health.fromMs ?? before?.atMs ?? Math.max(0, health.atMs - 1_000),
      atMs: health.atMs,
      agents: health.agents,
    });
    if (this.points.length > POINTS_MAX) {
      this.thin();
    }
  }

  clear(): void {
    this.points.length = 0;
  }

  /** Pairs of the older half become one. */
  private thin(): void {
    const old = this.points.splice(0, POINTS_MAX / 2);
    const joined: HealthPoint[] = [];
    for (let place = 0; place < old.length; place += 2) {
      const [first, second] = [old[place], old[place + 1]];
      if (first !== undefined) {
        joined.push(second === undefined ? first : join(first, second));
      }
    }
    this.points.unshift(...joined);
  }
}

function join(first: HealthPoint, second: HealthPoint): HealthPoint {
  const weights: [number, number] = [first.atMs - first.fromMs, second.atMs - second.fromMs];
  const later = new Map(second.agents.map((agent) => [agent.agent, agent]));
  const agents = first.agents.map((agent) => {
    const other = later.get(agent.agent);
    later.delete(agent.agent);
    return other === undefined ? agent : joinAgent(agent, other, weights);
  });
  return { fromMs: first.fromMs, atMs: second.atMs, agents: [...agents, ...later.values()] };
}

function joinAgent(first: AgentHealth, second: AgentHealth, [one, two]: [number, number]): AgentHealth {
  const joined: AgentHealth = { ...second };
  for (const [field, how] of Object.entries(FIELDS) as [HealthField, "mean" | "max" | "sum"][]) {
    const [a, b] = [first[field], second[field]];
    if (a === null || b === null) {
      joined[field] = a ?? b;
    } else if (how === "mean") {
      joined[field] = one + two > 0 ? (a * one + b * two) / (one + two) : b;
    } else {
      joined[field] = how === "max" ? Math.max(a, b) : a + b;
    }
  }
  return joined;
}
