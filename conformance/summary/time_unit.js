// summaryTimeUnit is passed on and changes no number.
import { Trend } from 'k6/metrics';
const time = new Trend('my_time', true);
export const options = { summaryTimeUnit: 's' };
export default function () { time.add(1500); }
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }
