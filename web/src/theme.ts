// Light or dark: as the system has it, until somebody chooses. A report from a server has no storage; that is no error.

import { effect } from "@preact/signals";
import type { Model } from "./model.ts";

const KEY = "onrush-theme";

export function followTheme(model: Model): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = read();
  model.isDark.value = kept === null ? system.matches : kept === "dark";
  let isFirst = true;
  system.addEventListener("change", () => {
    if (read() === null) {
      model.isDark.value = system.matches;
    }
  });
  effect(() => {
    const theme = model.isDark.value ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
    if (!isFirst && !model.isPrinting.peek() && theme !== (system.matches ? "dark" : "light")) {
      write(theme);
    } else if (!isFirst && !model.isPrinting.peek()) {
      write(null);
    }
    isFirst = false;
  });
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
