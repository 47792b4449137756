// The top of the page: which test, how far it is, whether the page still hears of it, and what can be done.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { clock, plural, span } from "../format/units.ts";
import { phaseWords } from "../format/words.ts";
import { type Model, useModel } from "../model.ts";
import { type Answer, Steer } from "../stream/steer.ts";
import { chooseTheme } from "../theme.ts";

export function Header() {
  const model = useModel();
  const { head, state, end } = model.run;
  const planned = head?.plannedMs ?? null;
  const elapsed = end?.durationMs ?? state?.elapsedMs ?? model.run.measuredUntilMs;
  const done = planned !== null && planned > 0 ? Math.min(elapsed / planned, 1) : null;
  return (
    <header class="top">
      <div class="top-row">
        <h1>
          <Mark />
          <span class="script" title={head?.script}>
            {head?.script || "Onrush"}
          </span>
        </h1>
        <p class="phase">
          <span class={`dot dot-${dotOf(model)}`} aria-hidden="true" />
          <b>{standing(model)}</b>
          {head !== null && (
            <span class="soft">
              {end === null && planned !== null ? `${clock(elapsed)} of ${clock(planned)}` : span(elapsed)}
              {head.agents > 1 && `, ${plural(head.agents, "agent")}`}
            </span>
          )}
        </p>
        <div class="actions">
          {model.kind === "dashboard" && head?.canSteer === true && end === null && <Controls model={model} />}
          {model.kind === "dashboard" && head !== null && model.token.value === "" && (
            <a class="button" href="report" download="report.html">
              Save report
            </a>
          )}
          {model.kind === "report" && (
            <button type="button" onClick={() => window.print()}>
              Print
            </button>
          )}
          <button
            type="button"
            class="theme"
            aria-label={model.isDark.value ? "Light colours" : "Dark colours"}
            onClick={() => chooseTheme(model)}
          >
            {model.isDark.value ? "Light" : "Dark"}
          </button>
        </div>
      </div>
      {done !== null && end === null && (
        <div
          class="progress"
          role="progressbar"
          aria-label="Progress of the test"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(done * 100)}
        >
          <div style={{ width: `${done * 100}%` }} />
        </div>
      )}
      {model.kind === "report" && head?.startedMs != null && (
        <p class="soft started">
          Began {new Date(head.startedMs).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "medium" })}, Onrush{" "}
          {head.onrush}
        </p>
      )}
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" width="26" height="26" viewBox="0 0 26 26" role="img" aria-label="Onrush">
      <rect width="26" height="26" rx="7" />
      <path d="M5 18c3 0 3.2-9.5 6-9.5S14 18 16.500 18 19 13 21 13" fill="none" stroke-width="2.4" stroke-linecap="round" />
    </svg>
  );
}

function Controls({ model }: { model: Model }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const said = useSignal("");
  const isPaused = model.run.state?.isPaused === true;
  const canPause = isPaused || isPausable(model);
  const steer = new Steer(() => model.token.value);
  const ask = async (answer: Promise<Answer>) => {
    const got = await answer;
    said.value = got.isOk ? "" : `Not done: ${got.why}.`;
    if (!got.isOk && got.needsToken) {
      model.connection.value = "refused";
    }
  };
  return (
    <>
      <span class="bad" role="status">
        {said.value}
      </span>
      {canPause && (
        <button type="button" onClick={() => void ask(steer.pause(!isPaused))}>
          {isPaused ? "Resume" : "Pause"}
        </button>
      )}
      <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
        Stop…
      </button>
      <dialog ref={dialog} aria-labelledby="stop-title">
        <h2 id="stop-title">Stop this test?</h2>
        <p>
          Iterations that are under way may finish, then the test ends. It cannot be continued. Its summary and report are still
          made; the exit code is 103.
        </p>
        <p class="dialog-actions">
          <button type="button" autofocus onClick={() => dialog.current?.close()}>
            Keep running
          </button>
          <button
            type="button"
            class="danger"
            onClick={() => {
              dialog.current?.close();
              void ask(steer.stop());
            }}
          >
            Stop the test
          </button>
        </p>
      </dialog>
    </>
  );
}

/** Whether what is on the page is still news. */
export function ConnectionNote({ onToken }: { onToken: () => void }) {
  const model = useModel();
  const typed = useSignal("");
  if (model.connection.value === "lost") {
    return (
      <p class="banner banner-warn" role="alert">
        The connection to the test is lost: {model.connectionWhy.value}. Trying again; what is shown is what came before.
      </p>
    );
  }
  if (model.connection.value !== "refused") {
    return null;
  }
  return (
    <form
      class="banner banner-warn"
      onSubmit={(event) => {
        event.preventDefault();
        model.token.value = typed.value.trim();
        onToken();
      }}
    >
      <label for="token">This test asks for its token (--api-token)</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        value={typed.value}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <button type="submit">Connect</button>
    </form>
  );
}

/** How the run stands, in a word or few. */
function standing({ kind, run }: Model): string {
  if (run.isCutOff) {
    return "Cut off";
  }
  if (run.end !== null) {
    return "Finished";
  }
  if (kind === "report") {
    return run.head === null ? "Summary" : "Under way when this was saved";
  }
  return phaseWords(run.state?.phase ?? "", run.state?.isPaused === true);
}

/** Before its start any run can be paused, later only one whose scenarios all stand still when they are told to. */
function isPausable({ run }: Model): boolean {
  const scenarios = run.head?.scenarios ?? [];
  return run.state?.phase === "initializing" || scenarios.every((one) => one.executor === "externally-controlled");
}

function dotOf(model: Model): string {
  if (model.kind === "report" || model.run.end !== null) {
    return "done";
  }
  return model.connection.value === "open" ? (model.run.state?.isPaused === true ? "paused" : "live") : "lost";
}
