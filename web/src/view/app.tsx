// The page: verdicts first, then the load, what it did to latency, what it was made of, and who made it.

import { batch } from "@preact/signals";
import { options } from "preact";
import { useEffect } from "preact/hooks";
import { type Model, ModelContext } from "../model.ts";
import { Breakdown, Checks } from "./breakdown.tsx";
import { Generator } from "./generator.tsx";
import { ConnectionNote, Header } from "./header.tsx";
import { Latency } from "./latency.tsx";
import { Messages } from "./messages.tsx";
import { Metrics } from "./metrics.tsx";
import { Scenarios } from "./scenarios.tsx";
import { SummaryOnly } from "./summary.tsx";
import { Tiles } from "./tiles.tsx";
import { Timeline } from "./timeline.tsx";
import { Traffic } from "./traffic.tsx";
import { Verdicts } from "./verdict.tsx";

const PARTS: readonly [string, string][] = [
  ["load", "Load"],
  ["latency", "Latency"],
  ["requests", "Requests"],
  ["checks", "Checks"],
  ["scenarios", "Scenarios"],
  ["metrics", "Metrics"],
  ["generator", "Generator"],
  ["messages", "Errors and log"],
];

export function App({ model, onToken }: { model: Model; onToken: () => void }) {
  useEffect(() => keysAndPrint(model), [model]);
  const { head } = model.run;
  const hasOnlySummary = head === null && model.summary.value !== null;
  const parts = PARTS.filter(([id]) => id !== "checks" || model.run.seriesOf("checks").length > 0);
  return (
    <ModelContext.Provider value={model}>
      <a class="skip" href="#main">
        Skip to the numbers
      </a>
      <Header />
      <ConnectionNote onToken={onToken} />
      {head !== null && <Timeline />}
      {head !== null && (
        <nav class="parts" aria-label="Parts of this page">
          {parts.map(([id, name]) => (
            <a key={id} href={`#${id}`}>
              {name}
            </a>
          ))}
        </nav>
      )}
      <main id="main">
        {hasOnlySummary && <SummaryOnly />}
        {head === null && !hasOnlySummary && (
          <p class="card empty waiting">
            {model.kind === "report" ? "This report holds no run." : "Waiting for the test to say what it is …"}
          </p>
        )}
        {head !== null && (
          <>
            <Verdicts />
            <Tiles />
            <Traffic />
            <Latency />
            <Breakdown />
            <Checks />
            <Scenarios />
            <Metrics />
            <Generator />
            <Messages />
          </>
        )}
      </main>
    </ModelContext.Provider>
  );
}

/** Escape shows the whole run again; before printing everything is drawn, in light colours. */
function keysAndPrint(model: Model): () => void {
  let wasDark = model.isDark.peek();
  const key = (event: KeyboardEvent) => {
    if (event.key === "Escape" && document.querySelector("dialog[open]") === null) {
      model.selectAll();
      model.focus.value = {};
    }
  };
  const before = () => {
    wasDark = model.isDark.peek();
    const { debounceRendering } = options;
    // The paper is made as soon as this returns.
    options.debounceRendering = (draw) => draw();
    batch(() => {
      model.isPrinting.value = true;
      model.isDark.value = false;
    });
    options.debounceRendering = debounceRendering;
  };
  const after = () => {
    batch(() => {
      model.isDark.value = wasDark;
      model.isPrinting.value = false;
    });
  };
  addEventListener("keydown", key);
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  return () => {
    removeEventListener("keydown", key);
    removeEventListener("beforeprint", before);
    removeEventListener("afterprint", after);
  };
}
