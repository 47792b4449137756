// What is said in words: phases, verdicts, endings, tags.

import type { Outcome, Verdict } from "../stream/records.ts";

export function phaseWords(phase: string, isPaused: boolean): string {
  if (isPaused && phase === "running") {
    return "Paused";
  }
  return PHASES[phase] ?? (phase === "" ? "Starting" : phase);
}

export function measurementWords(verdict: Verdict | null, isOver = false): { title: string; text: string } {
  switch (verdict) {
    case "VALID":
      return { title: "Measurement valid", text: "The generator kept up: these times are the server's." };
    case "SUSPECT":
      return { title: "Measurement suspect", text: "Take the numbers with care: the generator may be in them." };
    case "INVALID":
      return { title: "Measurement invalid", text: "Do not rely on these numbers: the generator is in them." };
    case null:
      if (isOver) {
        return { title: "Measurement not judged", text: "The run broke off before the generator was judged." };
      }
      return {
        title: "Measurement not judged yet",
        text: "The verdict on the generator comes with the first seconds of load.",
      };
  }
}

/** What an exit code of the program means. */
export function exitWords(code: number): string {
  return EXITS[code] ?? "the run failed";
}

/** How requests ended, in few words. */
export function endingWords(outcome: Outcome): string {
  if (outcome.isInterrupted) {
    return "no answer before the iteration was interrupted";
  }
  if (outcome.status !== null && outcome.status > 0) {
    return `${outcome.status} ${STATUSES[outcome.status] ?? ""}`.trim();
  }
  return outcome.text || (outcome.code !== null ? `error ${outcome.code}` : "error");
}

/** Whether an ending is one that nobody wants to see. */
export function isFailure(outcome: Outcome): boolean {
  return outcome.isInterrupted || outcome.status === null || outcome.status === 0 || outcome.status >= 400;
}

/** An error code as k6 numbers them. */
export function codeWords(code: string): string {
  const number = Number(code);
  if (number >= 1_400 && number < 1_600) {
    const status = number - 1_000;
    return `${status} ${STATUSES[status] ?? ""}`.trim();
  }
  return CODES[code] === undefined ? `error ${code}` : `${CODES[code]} (${code})`;
}

/** A tag's value as it is shown. Groups begin with `::`. */
export function tagWords(tag: string, value: string): string {
  if (tag === "group") {
    return value === "" ? "no group" : value.replace(/^::/, "").replaceAll("::", " › ");
  }
  if (tag === "status") {
    return value === "0" ? "no response" : `${value} ${STATUSES[Number(value)] ?? ""}`.trim();
  }
  if (tag === "error_code") {
    return codeWords(value);
  }
  return value === "" ? "(empty)" : value;
}

const PHASES: Record<string, string> = {
  initializing: "Starting VUs",
  paused: "Waiting to be started",
  setup: "Setting up",
  running: "Running",
  teardown: "Tearing down",
  done: "Finished",
  closed: "Finished",
};

const EXITS: Record<number, string> = {
  0: "no threshold was crossed",
  80: "the measurement was refused (--fail-on)",
  99: "a threshold was crossed",
  100: "setup() took too long",
  101: "teardown() took too long",
  102: "a time limit was reached",
  103: "stopped over the REST API or from this page",
  104: "the configuration is not valid",
  105: "ended by a signal",
  106: "the REST API could not be started",
  107: "the script threw an exception",
  108: "the script aborted the test",
  109: "the generator failed: please report it",
  110: "the script marked the test as failed",
  120: "an agent was lost",
};

const STATUSES: Record<number, string> = {
  101: "Switching Protocols",
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  206: "Partial Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  418: "I'm a Teapot",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

const CODES: Record<string, string> = {
  "1050": "request timed out",
  "1101": "host not found",
  "1110": "address blocked",
  "1210": "dial failed",
  "1211": "dial timed out",
  "1212": "connection refused",
  "1220": "connection reset",
  "1310": "TLS: certificate not trusted",
  "1311": "TLS: wrong host name",
};
