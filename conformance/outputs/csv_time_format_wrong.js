// csv with times in a format that does not exist.
// out: csv
// env: K6_CSV_TIME_FORMAT=weeks
export default function () {}
