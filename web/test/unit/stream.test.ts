import { expect, test } from "vitest";
import { bytes, clock, compact, count, percent, significant, span, time } from "../../src/format/units.ts";
import { linesOf } from "../../src/stream/embedded.ts";
import { EventParser } from "../../src/stream/sse.ts";

test("events are the same however their text is cut", () => {
  const text = ': hello\n\nid: 7\nevent: step\ndata: {"a":\ndata:1}\n\nretry: 5\ndata: x\r\n\r\nevent: lonely\n\n';
  const whole = new EventParser().push(text);
  expect(whole).toEqual([
    { event: "step", data: '{"a":\n1}', id: "7" },
    { event: "message", data: "x", id: "7" },
  ]);
  for (let size = 1; size < text.length; size++) {
    const parser = new EventParser();
    const events = [];
    for (let start = 0; start < text.length; start += size) {
      events.push(...parser.push(text.slice(start, start + size)));
    }
    expect(events).toEqual(whole);
  }
});

test("lines that are no records are passed over", () => {
  expect(
    linesOf('\n{"event":"end","data":{"durationMs":5}}\nnot json\n{"event":"new","data":{}}\n[]\n').map(
      (message) => message.event,
    ),
  ).toEqual(["end"]);
});

test("numbers for people", () => {
  expect([0, 1, 12.345, 123.4, 999.6, 1_234.5, 0.01234, -5, 1e-7].map(significant)).toEqual([
    "0",
    "1",
    "12.3",
    "123",
    "1,000",
    "1,235",
    "0.012",
    "−5",
    "1.0e-7".replace("-", "−"),
  ]);
  expect([0, 9_999, 12_345, 1_234_567, 2.5e9].map(compact)).toEqual(["0", "9,999", "12.3 k", "1.23 M", "2.5 G"]);
  expect([0, 0.0123, 0.5, 12.34, 1_234, 65_000, 3_720_000].map(time)).toEqual([
    "0 ms",
    "12.3 µs",
    "0.5 ms",
    "12.3 ms",
    "1.23 s",
    "1 min 5 s",
    "1 h 2 min",
  ]);
  expect([0, 7_400, 754_000, 3_723_000].map(clock)).toEqual(["0:00", "0:07", "12:34", "1:02:03"]);
  expect([500, 3_000, 45_000, 60_000, 5_400_000].map(span)).toEqual(["0.5 s", "3 s", "45 s", "1 min", "1 h 30 min"]);
  expect([0, 999, 1_500, 2_340_000].map(bytes)).toEqual(["0 B", "999 B", "1.5 kB", "2.34 MB"]);
  expect([0, 1, 0.5, 0.0123, 0.00001, 0.999999, 0.0012].map(percent)).toEqual([
    "0 %",
    "100 %",
    "50 %",
    "1.2 %",
    "< 0.01 %",
    "> 99.99 %",
    "0.12 %",
  ]);
  expect([1_234_567, 2.5].map(count)).toEqual(["1,234,567", "2.5"]);
});
