// Server-sent events over `fetch`, because `EventSource` can neither send a token nor say why it was refused.

import { type Message, readRecord } from "./records.ts";

/** A whole run so far may be one event of a report, never so long in a live stream. */
const EVENT_CHARACTERS_MAX = 64_000_000;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 10_000;
/** The server says something every second; after so much silence the connection is as good as lost. */
const SILENCE_MS = 20_000;

export type Connection = "connecting" | "open" | "lost" | "refused" | "ended";

export interface Options {
  url: string;
  token: () => string;
  onMessages: (messages: Message[]) => void;
  onConnection: (connection: Connection, why: string) => void;
}

/** Follows a stream until it has ended or the function it gives back is called. */
export function follow(options: Options): () => void {
  const stop = new AbortController();
  void run(options, stop.signal);
  return () => stop.abort();
}

async function run(options: Options, stop: AbortSignal): Promise<void> {
  let lastId = "";
  let pause = RETRY_FIRST_MS;
  while (!stop.aborted) {
    const attempt = new AbortController();
    const cancel = () => attempt.abort();
    stop.addEventListener("abort", cancel);
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(cancel, SILENCE_MS);
    };
    let why = "the connection was closed";
    try {
      options.onConnection("connecting", "");
      heard();
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (lastId !== "") {
        headers["Last-Event-ID"] = lastId;
      }
      if (options.token() !== "") {
        headers.Authorization = `Bearer ${options.token()}`;
      }
      const response = await fetch(options.url, { headers, cache: "no-store", signal: attempt.signal });
      if (response.status === 401 || response.status === 403) {
        options.onConnection("refused", response.status === 401 ? "a token is needed" : "the server refused this page");
        return;
      }
      if (!response.ok || response.body === null) {
        throw new Error(`the server answered ${response.status}`);
      }
      options.onConnection("open", "");
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          break;
        }
        heard();
        const events = parser.push(value);
        const messages: Message[] = [];
        for (const event of events) {
          const message = parse(event);
          if (message !== null) {
            messages.push(message);
          }
          lastId = event.id ?? lastId;
        }
        if (messages.length > 0) {
          pause = RETRY_FIRST_MS;
          options.onMessages(messages);
        }
        if (messages.some((message) => message.event === "end")) {
          options.onConnection("ended", "");
          return;
        }
      }
    } catch (error) {
      why = error instanceof Error && error.name !== "AbortError" ? error.message : "the server says nothing";
    } finally {
      clearTimeout(silence);
      stop.removeEventListener("abort", cancel);
    }
    if (stop.aborted) {
      return;
    }
    options.onConnection("lost", why);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, RETRY_MAX_MS);
  }
}

export interface RawEvent {
  event: string;
  data: string;
  id: string | null;
}

/** Cuts a text that arrives in pieces into events. */
export class EventParser {
  private rest = "";
  private data: string[] = [];
  private event = "";
  private id: string | null = null;

  push(text: string): RawEvent[] {
    const events: RawEvent[] = [];
    this.rest += text;
    if (this.rest.length > EVENT_CHARACTERS_MAX) {
      throw new Error("the server sent an event that is too long");
    }
    let start = 0;
    for (;;) {
      const end = this.rest.indexOf("\n", start);
      if (end === -1) {
        break;
      }
      const isCr = end > start && this.rest[end - 1] === "\r";
      this.line(this.rest.slice(start, isCr ? end - 1 : end), events);
      start = end + 1;
    }
    this.rest = this.rest.slice(start);
    return events;
  }

  private line(line: string, events: RawEvent[]): void {
    if (line === "") {
      if (this.data.length > 0) {
        events.push({ event: this.event || "message", data: this.data.join("\n"), id: this.id });
      }
      this.data = [];
      this.event = "";
      return;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") {
      this.data.push(value);
    } else if (field === "event") {
      this.event = value;
    } else if (field === "id" && !value.includes("\0")) {
      this.id = value;
    }
  }
}

function parse(event: RawEvent): Message | null {
  try {
    return readRecord(event.event, JSON.parse(event.data));
  } catch {
    return null;
  }
}
