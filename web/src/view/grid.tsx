// A table that sorts by its columns and is filtered by a text.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export interface Column<Row> {
  name: string;
  /** What is sorted by; texts rise, numbers fall first. */
  value: (row: Row) => string | number | null;
  show: (row: Row) => ComponentChildren;
  isText?: boolean;
  help?: string;
}

interface Props<Row> {
  id: string;
  caption: string;
  rows: Row[];
  columns: Column<Row>[];
  keyOf: (row: Row) => string;
  /** Which column decides at first. */
  sortedBy: string;
  empty: string;
  /** What the filter compares; without it there is no filter. */
  text?: (row: Row) => string;
  isMarked?: (row: Row) => boolean;
  /** What a click on a row does. Something in the row has to do the same for the keyboard. */
  onRow?: (row: Row) => void;
}

const ROWS_SHOWN = 100;

export function Grid<Row>({ id, caption, rows, columns, keyOf, sortedBy, empty, text, isMarked, onRow }: Props<Row>) {
  const sort = useSignal<{ column: string; isRising: boolean } | null>(null);
  const filter = useSignal("");
  const isLong = useSignal(false);
  const first = columns.find((column) => column.name === sortedBy) ?? columns[0];
  const column = columns.find((one) => one.name === sort.value?.column) ?? first;
  const isRising = sort.value?.isRising ?? column?.isText === true;
  const wanted = filter.value.toLowerCase();
  const found = text === undefined || wanted === "" ? rows : rows.filter((row) => text(row).toLowerCase().includes(wanted));
  const sorted =
    column === undefined ? found : [...found].sort((a, b) => compare(column.value(a), column.value(b)) * (isRising ? 1 : -1));
  const shown = isLong.value ? sorted : sorted.slice(0, ROWS_SHOWN);
  return (
    <div class="card grid">
      {text !== undefined && rows.length > 5 && (
        <p class="grid-filter">
          <label for={`${id}-filter`}>Filter</label>
          <input
            id={`${id}-filter`}
            type="search"
            value={filter.value}
            onInput={(event) => (filter.value = event.currentTarget.value)}
          />
          <span class="soft" aria-live="polite">
            {found.length === rows.length ? `${rows.length} rows` : `${found.length} of ${rows.length} rows`}
          </span>
        </p>
      )}
      {found.length === 0 ? (
        <p class="empty">{rows.length === 0 ? empty : "No row has this text."}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section class="scroll" tabIndex={0} aria-label={caption}>
          <table>
            <caption class="hidden">{caption}</caption>
            <thead>
              <tr>
                {columns.map((one) => {
                  const isSorted = one === column;
                  return (
                    <th
                      key={one.name}
                      scope="col"
                      class={one.isText ? "text" : ""}
                      aria-sort={isSorted ? (isRising ? "ascending" : "descending") : "none"}
                    >
                      <button
                        type="button"
                        title={one.help}
                        onClick={() => {
                          sort.value = { column: one.name, isRising: isSorted ? !isRising : one.isText === true };
                        }}
                      >
                        {one.name}
                        <span class="sort-sign" aria-hidden="true">
                          {isSorted ? (isRising ? "▲" : "▼") : ""}
                        </span>
                      </button>
                    </th>
                  );
                })}
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <tr
                  key={keyOf(row)}
                  class={`${isMarked?.(row) === true ? "marked" : ""} ${onRow === undefined ? "" : "pressed-as-one"}`}
                  onClick={(event) => {
                    // What is in the row has clicks of its own, and whoever marks a text does not mean the row.
                    const isOwn = (event.target as Element).closest("button, a, input") !== null;
                    if (!isOwn && getSelection()?.isCollapsed !== false) {
                      onRow?.(row);
                    }
                  }}
                >
                  {columns.map((one, place) =>
                    place === 0 ? (
                      <th key={one.name} scope="row" class={one.isText ? "text" : ""}>
                        {one.show(row)}
                      </th>
                    ) : (
                      <td key={one.name} class={one.isText ? "text" : ""}>
                        {one.show(row)}
                      </td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {sorted.length > ROWS_SHOWN && (
        <p class="grid-more">
          {!isLong.value && <span class="soft">The first {ROWS_SHOWN} rows.</span>}{" "}
          <button type="button" onClick={() => (isLong.value = !isLong.value)}>
            {isLong.value ? `Show the first ${ROWS_SHOWN}` : `Show all ${sorted.length} rows`}
          </button>
        </p>
      )}
    </div>
  );
}

function compare(a: string | number | null, b: string | number | null): number {
  if (typeof a === "number" && typeof b === "number") {
    return a - b;
  }
  if (typeof a === "string" && typeof b === "string") {
    return a.localeCompare(b, "en", { numeric: true });
  }
  return (a === null ? 0 : 1) - (b === null ? 0 : 1);
}
