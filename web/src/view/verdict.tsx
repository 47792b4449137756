// Both verdicts, in words, before any number: did the system hold what was asked of it, and can the measurement be trusted?

import type { ComponentChildren } from "preact";
import { clock, percent, plural, significant, span, valueFormat } from "../format/units.ts";
import { exitWords, measurementWords } from "../format/words.ts";
import { type Model, useModel } from "../model.ts";
import type { ThresholdState, Verdict } from "../stream/records.ts";
import { Sign, type Tone } from "./card.tsx";

export function Verdicts() {
  const model = useModel();
  return (
    <div class="verdicts">
      <Thresholds model={model} />
      <Measurement model={model} />
    </div>
  );
}

function Thresholds({ model }: { model: Model }) {
  const { end, isCutOff } = model.run;
  const thresholds = thresholdsOf(model);
  const stage = isCutOff ? "cut off" : end === null ? "under way" : "over";
  return (
    <ThresholdCard thresholds={thresholds} stage={stage} written={(one) => valueWords(model, one)}>
      <Ending model={model} />
    </ThresholdCard>
  );
}

/** What is judged is that of a whole run, or of what there is of one. */
export type Stage = "under way" | "cut off" | "over";

interface ThresholdCardProps {
  thresholds: ThresholdState[];
  stage: Stage;
  written: (threshold: ThresholdState) => string;
  children?: ComponentChildren;
}

export function ThresholdCard({ thresholds, stage, written, children }: ThresholdCardProps) {
  const { tone, title, text } = thresholdWords(thresholds, stage);
  const crossedFirst = [...thresholds].sort((a, b) => rank(a) - rank(b));
  return (
    <section class={`card verdict verdict-${tone}`} aria-labelledby="thresholds-title">
      <h2 id="thresholds-title">
        <Sign tone={tone} />
        {title}
      </h2>
      <p>{text}</p>
      {thresholds.length > 0 && (
        <ul class="thresholds">
          {crossedFirst.map((one) => (
            <li key={`${one.metric} ${one.source}`}>
              <Sign tone={toneOf(one)} />
              <span class="threshold-name">
                <b>{one.metric}</b> <code>{one.source}</code>
              </span>
              <span class="threshold-value">
                {written(one)} <span class="soft">{!one.isJudged ? "not judged" : one.isOk ? "holds" : "crossed"}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {children}
    </section>
  );
}

function Ending({ model }: { model: Model }) {
  const { end, isCutOff } = model.run;
  if (end === null) {
    return null;
  }
  if (isCutOff) {
    return (
      <p class="ending">
        <b>Cut off:</b> the run was killed before it could end, or the end of its file is missing. The data end at{" "}
        {clock(end.durationMs)}.
      </p>
    );
  }
  return (
    <p class="ending">
      Ended after {span(end.durationMs)}
      {end.exitCode !== null && ` with exit code ${end.exitCode}: ${exitWords(end.exitCode)}`}.
      {end.stopped !== null && ` ${end.stopped}`}
    </p>
  );
}

function Measurement({ model }: { model: Model }) {
  const { end, state, lost, unread } = model.run;
  const reasons = (end?.reasons.length ? end.reasons : state?.reasons) ?? [];
  const notes = (end?.notes.length ? end.notes : state?.notes) ?? [];
  const more = [
    ...(lost > 0 ? [`${plural(lost, "sample")} had no series because of the limit of series, and are missing here.`] : []),
    ...(unread > 0 ? [`${plural(unread, "value")} of the stream could not be read, and are missing here.`] : []),
  ];
  const verdict = end?.verdict ?? state?.verdict ?? null;
  return <MeasurementCard verdict={verdict} isOver={end !== null} reasons={reasons} notes={[...notes, ...more]} />;
}

interface MeasurementCardProps {
  verdict: Verdict | null;
  isOver: boolean;
  reasons: string[];
  notes: string[];
}

export function MeasurementCard({ verdict, isOver, reasons, notes }: MeasurementCardProps) {
  const { title, text } = measurementWords(verdict, isOver);
  const tone = toneOfMeasurement(verdict);
  return (
    <section class={`card verdict verdict-${tone}`} aria-labelledby="measurement-title">
      <h2 id="measurement-title">
        <Sign tone={tone} />
        {title}
      </h2>
      <p>{text}</p>
      {reasons.length > 0 && (
        <ul class="reasons">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {notes.length > 0 && (
        <ul class="notes">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Those of the state; before there is one, what the options ask for. */
function thresholdsOf(model: Model): ThresholdState[] {
  const { state, head } = model.run;
  if (state !== null && state.thresholds.length > 0) {
    return state.thresholds;
  }
  return Object.entries(head?.thresholds ?? {}).flatMap(([metric, sources]) =>
    sources.map((source) => ({ metric, source, isOk: true, isJudged: false, value: null })),
  );
}

function thresholdWords(thresholds: ThresholdState[], stage: Stage): { tone: Tone; title: string; text: string } {
  const crossed = thresholds.filter((one) => one.isJudged && !one.isOk).length;
  const judged = thresholds.filter((one) => one.isJudged).length;
  if (thresholds.length === 0) {
    return { tone: "none", title: "No thresholds", text: "Nothing was asked of the system, so nothing can be missed." };
  }
  if (crossed > 0) {
    return {
      tone: "bad",
      title: `Thresholds crossed${SO_FAR[stage]}`,
      text: `${plural(crossed, "threshold")} of ${thresholds.length} ${crossed === 1 ? "is" : "are"} crossed.`,
    };
  }
  if (judged === 0) {
    if (stage !== "under way") {
      return { tone: "none", title: "Thresholds not judged", text: "There was nothing to judge them by." };
    }
    return {
      tone: "none",
      title: "Thresholds not judged yet",
      text: `${plural(thresholds.length, "threshold")} will be judged.`,
    };
  }
  const all = thresholds.length === 1 ? "The only threshold holds." : `All ${thresholds.length} thresholds hold.`;
  const some = `${judged} of ${thresholds.length} thresholds hold, the others had nothing to judge.`;
  return {
    // Of half a run nobody knows.
    tone: stage === "cut off" ? "none" : "good",
    title: stage === "cut off" ? "Thresholds held until the run was cut off" : `Thresholds hold${SO_FAR[stage]}`,
    text: judged === thresholds.length ? all : some,
  };
}

/** A threshold's value with the unit of its metric. */
function valueWords(model: Model, { metric, source, value }: ThresholdState): string {
  if (value === null) {
    return "";
  }
  const known = model.run.metric(metric.split("{")[0] ?? metric);
  if (known?.kind === "rate") {
    return percent(value);
  }
  if (/^\s*(count|rate)\b/.test(source)) {
    return source.trim().startsWith("rate") ? `${significant(value)}/s` : significant(value);
  }
  return valueFormat(known?.contains ?? "default")(value);
}

function rank(threshold: ThresholdState): number {
  return threshold.isJudged ? (threshold.isOk ? 1 : 0) : 2;
}

function toneOf(threshold: ThresholdState): Tone {
  return threshold.isJudged ? (threshold.isOk ? "good" : "bad") : "none";
}

function toneOfMeasurement(verdict: Verdict | null): Tone {
  return verdict === null ? "none" : verdict === "VALID" ? "good" : verdict === "SUSPECT" ? "warn" : "bad";
}

const SO_FAR: Record<Stage, string> = { "under way": " so far", "cut off": " when the run was cut off", over: "" };
