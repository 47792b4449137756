// Small pieces that many parts of the page are made of.

import type { ComponentChildren } from "preact";

export function Section({
  id,
  title,
  note,
  children,
}: {
  id: string;
  title: string;
  note?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <div class="section-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {note && <p class="note">{note}</p>}
      </div>
      {children}
    </section>
  );
}

export type Tone = "good" | "warn" | "bad" | "none";

/** A sign with a shape of its own, so that colour is never the only thing that tells. */
export function Sign({ tone }: { tone: Tone }) {
  return (
    <svg class={`sign sign-${tone}`} width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
      {tone === "good" && (
        <path d="M9 1a8 8 0 100 16A8 8 0 009 1zm4 5.6l-4.9 5.6a1 1 0 01-1.5 0L4.3 9.8l1.4-1.4 1.6 1.7 4.2-4.8z" />
      )}
      {tone === "warn" && <path d="M9 1.5L17.5 16.5H.5zM8 7v5h2V7zm0 6.2v2h2v-2z" fill-rule="evenodd" />}
      {tone === "bad" && (
        <path
          d="M5.7 1h6.6L17 5.7v6.6L12.3 17H5.7L1 12.3V5.7zm.4 3.8L4.8 6.1 7.7 9l-2.9 2.9 1.3 1.3L9 10.3l2.9 2.9 1.3-1.3L10.3 9l2.9-2.9-1.3-1.3L9 7.7z"
          fill-rule="evenodd"
        />
      )}
      {tone === "none" && (
        <path d="M9 1a8 8 0 100 16A8 8 0 009 1zm0 2a6 6 0 110 12A6 6 0 019 3zM5 8h8v2H5z" fill-rule="evenodd" />
      )}
    </svg>
  );
}
