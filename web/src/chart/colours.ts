// The colours of charts, by name from the style sheet, so that light and dark are decided in one place.

/** Lines of percentiles differ by their dashes as well. */
export const DASHES: Record<string, number[]> = {
  solid: [],
  dashed: [8, 4],
  dotted: [2, 3],
  mixed: [9, 3, 2, 3],
};

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "gray";
}

export interface Rgb {
  r: number;
  g: number;
  b: number;
}

/** `#rrggbb`, or `#rgb` as minifiers write it. */
export function rgb(hex: string): Rgb {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit).join("") : hex.slice(1);
  const value = Number.parseInt(digits, 16);
  return { r: (value >> 16) & 255, g: (value >> 8) & 255, b: value & 255 };
}

/** A colour between several, 0 to 1. */
export function between(stops: readonly Rgb[], share: number): Rgb {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const lower = stops[Math.floor(place)] ?? { r: 0, g: 0, b: 0 };
  const upper = stops[Math.ceil(place)] ?? lower;
  const part = place - Math.floor(place);
  const mix = (a: number, b: number) => Math.round(a + (b - a) * part);
  return { r: mix(lower.r, upper.r), g: mix(lower.g, upper.g), b: mix(lower.b, upper.b) };
}

export function withAlpha(hex: string, alpha: number): string {
  const { r, g, b } = rgb(hex);
  return `rgb(${r} ${g} ${b} / ${alpha})`;
}
