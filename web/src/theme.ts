// Light or dark: as the system has it, until somebody chooses. A report from a server has no storage; that is no error.

import { effect } from "@preact/signals";
import type { Model } from "./model.ts";

const KEY = "onrush-theme";

export function followTheme(model: Model): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = read();
  model.isDark.value = kept === null ? system.matches : kept === "dark";
  system.addEventListener("change", () => {
    if (read() === null) {
      model.isDark.value = system.matches;
    }
  });
  effect(() => {
    document.documentElement.dataset.theme = model.isDark.value ? "dark" : "light";
  });
}

/** Somebody chose the other colours. What the system has anyway need not be kept. */
export function chooseTheme(model: Model): void {
  model.isDark.value = !model.isDark.value;
  const isSystems = model.isDark.value === matchMedia("(prefers-color-scheme: dark)").matches;
  write(isSystems ? null : model.isDark.value ? "dark" : "light");
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function write(theme: string | null): void {
  try {
    if (theme === null) {
      localStorage.removeItem(KEY);
    } else {
      localStorage.setItem(KEY, theme);
    }
  } catch {
    // Then the choice lasts as long as the page.
  }
}
