// What a visitor of the built-in site does, and the settings that the scripts in this folder share.
//
// BASE_URL     the system under test (default http://127.0.0.1:8080)
// TIME_SCALE   factor for all durations: 0.01 turns ten minutes into six seconds, to try a script out (default 1)
import http from 'k6/http';
import { check, sleep } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const TIME_SCALE = Number(__ENV.TIME_SCALE || 1);

/** A duration for `options`. */
export function minutes(count) {
  // No executor lasts less than a second.
  return `${Math.max(1000, Math.round(count * 60000 * TIME_SCALE))}ms`;
}

/** A whole number of seconds, at least one, for the fields of thresholds that take no less. */
export function seconds(count) {
  return `${Math.max(1, Math.round(count * TIME_SCALE))}s`;
}

/** One visit: two pages with a pause after each. */
export function visit() {
  const front = http.get(`${BASE_URL}/`, { tags: { name: 'front page' } });
  check(front, { 'front page is there': (r) => r.status === 200 });
  sleep(Math.random() * 2 * TIME_SCALE);
  const prices = http.get(`${BASE_URL}/json`, { tags: { name: 'prices' } });
  check(prices, { 'prices are there': (r) => r.status === 200 && r.json('catalogue.products').length > 0 });
  sleep(Math.random() * 2 * TIME_SCALE);
}

/** One request, for scripts that count requests and not visitors. */
export function ask() {
  const prices = http.get(`${BASE_URL}/json`, { tags: { name: 'prices' } });
  check(prices, { 'prices are there': (r) => r.status === 200 });
}
