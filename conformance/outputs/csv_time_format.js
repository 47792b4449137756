// csv with times as RFC 3339.
// out: csv
// env: K6_CSV_TIME_FORMAT=rfc3339
import { check } from 'k6';
export default function () { check(1, { one: true }); }
