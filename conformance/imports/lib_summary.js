// A library in the shape of k6-summary: it writes the summary.
// imports
// written: out.txt
import { check } from 'k6';
import { group } from 'k6';
import { Counter } from 'k6/metrics';
import { textSummary } from '{MODULES}/lib/summary.js';
const things = new Counter('things');
export const options = { iterations: 3 };
export default function () {
  things.add(2);
  group('g', () => check(__ITER, { even: (i) => i % 2 === 0 }));
}
export function handleSummary(data) { return { 'out.txt': textSummary(data, { indent: '  ' }), 'data.json': JSON.stringify(data) }; }
