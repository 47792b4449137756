// What axe-core finds on a page, and whether the page is wider than its window.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Axe {
  run(): Promise<{
    violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  }>;
}

/** Nothing serious, nothing critical, and nothing that has to be scrolled sideways. */
export async function expectAccessible(page: Page): Promise<void> {
  // Through the debugger: the page's policy admits no script of others.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe };
    return (await axe.run()).violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      html: nodes[0]?.html,
      why: nodes[0]?.failureSummary,
    }));
  });
  expect(found.filter(({ impact }) => impact === "serious" || impact === "critical")).toEqual([]);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(overflow).toBeLessThanOrEqual(0);
}
