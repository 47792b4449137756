// The few numbers that everybody looks at first, for the part of the run that is selected.

import type { ComponentChildren } from "preact";
import { bytes, clock, compact, count, percent, perSecond, plural, valueFormat } from "../format/units.ts";
import { type Model, useModel } from "../model.ts";
import { counterTotal, mainTrend, secondsOf, spread } from "../store/rows.ts";

export function Tiles() {
  const model = useModel();
  const { query } = model;
  const span = model.span.value;
  const fold = (metric: string) => query.fold(metric, model.focusOf(metric), span);
  const seconds = secondsOf(query, span);
  const requests = counterTotal(fold("http_reqs"));
  const iterations = counterTotal(fold("iterations"));
  const dropped = counterTotal(fold("dropped_iterations"));
  const failed = fold("http_req_failed");
  const checks = fold("checks");
  const trend = mainTrend(query);
  const format = valueFormat(trend === null ? "time" : (query.run.metric(trend)?.contains ?? "time"));
  const latency = spread(trend === null ? null : fold(trend));
  const [received, sent] = [counterTotal(fold("data_received")), counterTotal(fold("data_sent"))];
  const isHttp = requests > 0 || trend === "http_req_duration";
  return (
    <>
      <div class="tiles">
        {isHttp && (
          <Tile name="Requests" note={model.unfiltered("http_reqs")} value={perSecond(seconds > 0 ? requests / seconds : 0)}>
            {count(requests)} in all
          </Tile>
        )}
        {failed?.kind === "rate" && !failed.isEmpty && (
          <Tile
            name="Failed requests"
            note={model.unfiltered("http_req_failed")}
            value={percent(failed.share)}
            isBad={failed.hits > 0}
          >
            {count(failed.hits)} of {count(failed.total)}
          </Tile>
        )}
        {trend !== null && latency.count > 0 && (
          <>
            <Tile name={`${TITLES[trend] ?? trend} median`} note={model.unfiltered(trend)} value={format(latency.med)}>
              average {format(latency.mean)}
            </Tile>
            <Tile name={`${TITLES[trend] ?? trend} p95`} note={model.unfiltered(trend)} value={format(latency.p95)}>
              p99 {format(latency.p99)}, max {format(latency.max)}
            </Tile>
          </>
        )}
        <Tile
          name="Iterations"
          note={model.unfiltered("iterations")}
          value={perSecond(seconds > 0 ? iterations / seconds : 0)}
          isBad={dropped > 0}
        >
          {count(iterations)} in all{dropped > 0 && `, ${count(dropped)} dropped`}
        </Tile>
        {checks?.kind === "rate" && !checks.isEmpty && (
          <Tile
            name="Checks that pass"
            note={model.unfiltered("checks")}
            value={percent(checks.share)}
            isBad={checks.hits < checks.total}
          >
            {checks.hits === checks.total
              ? `all ${count(checks.total)}`
              : `${plural(checks.total - checks.hits, "failure")} of ${count(checks.total)}`}
          </Tile>
        )}
        <Tile
          name="Data received"
          note={model.unfiltered("data_received")}
          value={`${bytes(seconds > 0 ? received / seconds : 0)}/s`}
        >
          {bytes(received)} in, {bytes(sent)} out
        </Tile>
        <Vus />
      </div>
      <Until model={model} />
    </>
  );
}

/** Measurements come a moment later than how the run stands. */
function Until({ model }: { model: Model }) {
  const { end, state, measuredUntilMs } = model.run;
  // The second that is under way is not all there yet.
  const untilMs = Math.min(measuredUntilMs, state?.atMs ?? measuredUntilMs);
  if (model.kind === "report" || end !== null || untilMs === 0) {
    return null;
  }
  return (
    <p class="note measured">Measured until {clock(untilMs)}; VUs, verdicts and what the agents have done are as of now.</p>
  );
}

function Vus() {
  const model = useModel();
  const span = model.span.value;
  const gauge = model.query.fold("vus", model.focusOf("vus"), span);
  const state = model.run.state;
  const isNow = span === null && model.run.end === null && model.kind === "dashboard";
  const active =
    isNow && state !== null ? state.vusActive : gauge?.kind === "gauge" && !gauge.isEmpty ? gauge.max : (state?.vusActive ?? 0);
  return (
    <Tile name={isNow ? "Active VUs" : "VUs at most"} note={model.unfiltered("vus")} value={compact(active)}>
      {state === null ? "" : `${count(state.vusInitialized)} initialised`}
    </Tile>
  );
}

function Tile({
  name,
  note,
  value,
  isBad,
  children,
}: {
  name: string;
  note: string | null;
  value: string;
  isBad?: boolean;
  children?: ComponentChildren;
}) {
  return (
    <div class={`card tile ${isBad === true ? "tile-bad" : ""}`}>
      <h3>{name}</h3>
      <p class="tile-value">{value}</p>
      <p class="tile-note">{children}</p>
      {note !== null && <p class="tile-unfiltered">{note}</p>}
    </div>
  );
}

const TITLES: Record<string, string> = {
  http_req_duration: "Response",
  grpc_req_duration: "gRPC call",
  ws_session_duration: "Session",
  iteration_duration: "Iteration",
};
