// Numbers as people read them: three significant digits, a unit that fits, thousands apart.

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Three significant digits, but never fewer than the whole number has. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) {
    return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  }
  const size = Math.abs(value);
  if (size === 0) {
    return "0";
  }
  if (size >= 999.5) {
    return GROUPED.format(value).replace("-", "−");
  }
  if (size < 0.001) {
    return value.toExponential(1).replace("-", "−");
  }
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return trimmed(value.toFixed(digits)).replace("-", "−");
}

/** A whole number, in full. */
export function count(value: number): string {
  return Number.isInteger(value) ? GROUPED.format(value).replace("-", "−") : significant(value);
}

/** A number where there is little room: 12.3 k, 4.56 M. */
export function compact(value: number): string {
  const size = Math.abs(value);
  for (const [from, unitSize, unit] of SIZES) {
    if (size >= (unit === "k" ? from : from * 0.9995)) {
      return `${significant(value / unitSize)} ${unit}`;
    }
  }
  return significant(value);
}

/** A time in milliseconds, as long or short as it is. */
export function time(ms: number): string {
  const size = Math.abs(ms);
  if (!Number.isFinite(ms)) {
    return significant(ms);
  }
  if (size === 0) {
    return "0 ms";
  }
  if (size < 0.0995) {
    return `${significant(ms * 1_000)} µs`;
  }
  if (size < 999.5) {
    return `${significant(ms)} ms`;
  }
  if (size < 59_995) {
    return `${significant(ms / 1_000)} s`;
  }
  return span(ms);
}

/** A length of time for people: 45 s, 2 min 5 s, 1 h 30 min. */
export function span(ms: number): string {
  const s = Math.round(ms / 1_000);
  if (s < 60) {
    return ms < 9_950 ? `${trimmed((ms / 1_000).toFixed(1))} s` : `${s} s`;
  }
  const [hours, minutes, rest] = [Math.floor(s / 3_600), Math.floor((s % 3_600) / 60), s % 60];
  if (hours > 0) {
    return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  }
  return rest > 0 ? `${minutes} min ${rest} s` : `${minutes} min`;
}

/** A moment of the run: 0:07, 12:34, 1:02:03. */
export function clock(ms: number): string {
  const sign = ms < 0 ? "−" : "";
  const s = Math.floor(Math.abs(ms) / 1_000);
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(s / 3_600), Math.floor((s % 3_600) / 60), s % 60];
  return sign + (hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`);
}

export function bytes(value: number): string {
  const size = Math.abs(value);
  for (const [limit, unit] of BYTES) {
    if (size >= limit * 0.9995) {
      return `${significant(value / limit)} ${unit}`;
    }
  }
  return `${significant(value)} B`;
}

/** A share of 1 as percent. What is not quite nothing, or not quite all, never looks like it. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 99.99 && value < 100) {
    return "> 99.99 %";
  }
  if (value > 0 && value < 0.01) {
    return "< 0.01 %";
  }
  const digits = value === 0 || value === 100 ? 0 : value < 1 || value > 99 ? 2 : 1;
  return `${trimmed(value.toFixed(digits))} %`;
}

export function perSecond(value: number): string {
  return `${compact(value)}/s`;
}

/** `1 request`, `2 requests`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** How a metric's values are written. */
export function valueFormat(contains: "default" | "time" | "data"): (value: number) => string {
  return contains === "time" ? time : contains === "data" ? bytes : significant;
}

function trimmed(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Thousands stay as they are up to 9,999. */
const SIZES: readonly [number, number, string][] = [
  [1e9, 1e9, "G"],
  [1e6, 1e6, "M"],
  [1e4, 1e3, "k"],
];

const BYTES: readonly [number, string][] = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
];
