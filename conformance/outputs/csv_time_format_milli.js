// csv with times in milliseconds.
// out: csv
// env: K6_CSV_TIME_FORMAT=unix_milli
import { check } from 'k6';
export default function () { check(1, { one: true }); }
