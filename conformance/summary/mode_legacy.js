// --summary-mode=legacy leaves data as they are.
// flags: --summary-mode=legacy
import { group, check } from 'k6';
export default function () { group('g', () => check(1, { one: true })); }
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }
