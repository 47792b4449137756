// A chart's numbers as a table, for whoever reads rather than looks. Made only while it is open.

import { useSignal } from "@preact/signals";
import { clock } from "../format/units.ts";
import type { Line } from "./plot.tsx";

const ROWS_MAX = 400;

export function DataTable({
  title,
  x,
  lines,
  format,
}: {
  title: string;
  x: number[];
  lines: Line[];
  format: (value: number) => string;
}) {
  const isOpen = useSignal(false);
  return (
    <details class="data" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        Numbers<span class="hidden"> of {title}</span>
      </summary>
      {isOpen.value && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="scroll" tabIndex={0} aria-label={`Numbers of ${title}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {lines.map((line) => (
                  <th scope="col" key={line.label}>
                    {line.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {x.slice(-ROWS_MAX).map((at, row) => {
                const place = Math.max(0, x.length - ROWS_MAX) + row;
                return (
                  <tr key={at}>
                    <th scope="row">{clock(at * 1_000)}</th>
                    {lines.map((line) => {
                      const value = line.values[place] ?? null;
                      return <td key={line.label}>{value === null ? "–" : format(value)}</td>;
                    })}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
