// The scenarios, and what their targets are changed with while the test runs.

import { useSignal } from "@preact/signals";
import { clock, count, plural, significant } from "../format/units.ts";
import { type Model, useModel } from "../model.ts";
import { counterTotal } from "../store/rows.ts";
import type { Scenario, ScenarioState } from "../stream/records.ts";
import { Steer } from "../stream/steer.ts";
import { Section } from "./card.tsx";

export function Scenarios() {
  const model = useModel();
  const { head, state, end } = model.run;
  const canSteer = head?.canSteer === true && model.kind === "dashboard" && end === null;
  return (
    <Section
      id="scenarios"
      title="Scenarios"
      note={model.span.value === null ? undefined : "Of the whole run, whatever time is selected above."}
    >
      <div class="scenarios">
        {(head?.scenarios ?? []).map((scenario) => (
          <One
            key={scenario.name}
            model={model}
            scenario={scenario}
            state={state?.scenarios.find((one) => one.name === scenario.name) ?? null}
            canSteer={canSteer}
          />
        ))}
      </div>
      {(head?.scenarios.length ?? 0) === 0 && <p class="card empty">No scenario is known yet.</p>}
    </Section>
  );
}

interface OneProps {
  model: Model;
  scenario: Scenario;
  state: ScenarioState | null;
  canSteer: boolean;
}

function One({ model, scenario, state, canSteer }: OneProps) {
  const tag = model.focus.value.scenario;
  const iterations = measured(model, "iterations", scenario.name) ?? state?.iterations ?? 0;
  const dropped = measured(model, "dropped_iterations", scenario.name) ?? state?.dropped ?? 0;
  return (
    <article class="card scenario">
      <h3>
        <button
          type="button"
          class="link"
          aria-pressed={tag === scenario.name}
          onClick={() => model.toggleFocus("scenario", scenario.name)}
        >
          {scenario.name}
        </button>
        <span class="soft">{standing(scenario, state)}</span>
      </h3>
      <p class="note">{scenario.description || scenario.executor}</p>
      {state !== null && (
        <dl>
          <Fact name={scenario.isRate ? "Rate now" : "VUs now"} value={target(scenario, state)} />
          <Fact name="Busy VUs" value={`${count(state.runningVus)} of ${count(state.vus)}`} />
          <Fact name="Iterations" value={count(iterations)} />
          <Fact name="Dropped" value={count(dropped)} isBad={dropped > 0} />
          <Fact name="Exceptions" value={count(state.exceptions)} isBad={state.exceptions > 0} />
        </dl>
      )}
      {canSteer && state?.isStarted === true && !state.isOver && !state.isStopping && (
        <Target model={model} scenario={scenario} state={state} />
      )}
    </article>
  );
}

/**
 * A counter of a scenario from the measurements, as it is in the rest of the page: the state is newer. `null` without the tag that
 * tells scenarios apart.
 */
function measured(model: Model, metric: string, scenario: string): number | null {
  return model.query.hasTag(metric, "scenario") ? counterTotal(model.query.fold(metric, { scenario })) : null;
}

function Fact({ name, value, isBad }: { name: string; value: string; isBad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad === true ? "bad" : ""}>{value}</dd>
    </div>
  );
}

/** A slider and a field for the same number, and how gradually it is reached. */
function Target({ model, scenario, state }: { model: Model; scenario: Scenario; state: ScenarioState }) {
  const now = Math.round(state.wanted ?? state.target ?? state.vus);
  const typed = useSignal<number | null>(null);
  const over = useSignal(0);
  const said = useSignal<{ text: string; isBad: boolean } | null>(null);
  const value = typed.value ?? now;
  const planned = Math.max(...scenario.planned.map(([, one]) => one), now, 1);
  const top = scenario.isRate ? planned * 3 : Math.max(state.maxVus, planned * 2);
  const unit = scenario.isRate
    ? `iterations per ${state.timeUnit && state.timeUnit !== "1s" ? state.timeUnit : "second"}`
    : "VUs";
  const id = `target-${scenario.name}`;
  const send = async (event: Event) => {
    event.preventDefault();
    said.value = null;
    const steer = new Steer(() => model.token.value);
    const answer = await steer.scale(scenario.name, scenario.isRate ? "rate" : "vus", value, over.value);
    if (answer.isOk) {
      const how = over.value > 0 ? ` within ${plural(over.value, "second")}` : "";
      said.value = { text: `${significant(value)} ${unit}${how}.`, isBad: false };
      typed.value = null;
    } else {
      said.value = { text: `Not changed: ${answer.why}.`, isBad: true };
      if (answer.needsToken) {
        model.connection.value = "refused";
      }
    }
  };
  return (
    <form class="target" onSubmit={send}>
      <label for={id}>Change to</label>
      <input
        type="range"
        aria-label={`${scenario.name}: ${unit}`}
        min="0"
        max={top}
        value={Math.min(value, top)}
        onInput={(event) => (typed.value = Number(event.currentTarget.value))}
      />
      <input
        id={id}
        type="number"
        min="0"
        step="1"
        required
        value={value}
        onInput={(event) => {
          const number = Number(event.currentTarget.value);
          typed.value = Number.isFinite(number) ? number : null;
        }}
      />
      <span>{unit}</span>
      <label>
        within{" "}
        <select value={String(over.value)} onChange={(event) => (over.value = Number(event.currentTarget.value))}>
          <option value="0">no time</option>
          <option value="10">10 s</option>
          <option value="60">1 min</option>
          <option value="300">5 min</option>
        </select>
      </label>
      <button type="submit" disabled={value === now && typed.value === null}>
        Apply
      </button>
      <p class={said.value?.isBad === true ? "bad" : "soft"} role="status">
        {said.value?.text ?? ""}
      </p>
    </form>
  );
}

function standing(scenario: Scenario, state: ScenarioState | null): string {
  if (state === null || !state.isStarted) {
    return scenario.startMs > 0 ? `begins at ${clock(scenario.startMs)}` : "not begun";
  }
  return state.isOver ? "over" : state.isStopping ? "ending" : "running";
}

function target(scenario: Scenario, state: ScenarioState): string {
  if (scenario.isRate) {
    return state.target === null ? "–" : `${significant(state.target)}/s`;
  }
  return count(state.vus);
}
