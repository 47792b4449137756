// What a report holds of its run: records as lines of JSON, packed with gzip, and the summary beside them.

import { isObject, type Message, readRecord } from "./records.ts";

/** The records of a report; none where it holds only a summary. */
export async function embeddedMessages(document: Document): Promise<Message[] | null> {
  const packed = document.getElementById("onrush-stream")?.textContent?.trim();
  if (!packed) {
    return null;
  }
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return linesOf(await new Response(unpacked).text());
}

export function linesOf(text: string): Message[] {
  const messages: Message[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") {
      continue;
    }
    let record: unknown;
    try {
      record = JSON.parse(line);
    } catch {
      continue;
    }
    const message = isObject(record) && typeof record.event === "string" ? readRecord(record.event, record.data) : null;
    if (message !== null) {
      messages.push(message);
    }
  }
  return messages;
}

/** The summary as JSON, `null` where there is none. */
export function embeddedSummary(document: Document): Record<string, unknown> | null {
  const text = document.getElementById("onrush-summary")?.textContent;
  try {
    const summary: unknown = text ? JSON.parse(text) : null;
    return isObject(summary) ? summary : null;
  } catch {
    return null;
  }
}
