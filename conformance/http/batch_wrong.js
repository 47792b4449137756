// Arguments of batch() that are none.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/f/1`;
  const calls = {
    nothing: [], undefined: [undefined], null: [null], number: [5], text: [url], empty_list: [[]], empty_object: [{}], one_word: [[['GET']]], no_words: [[[]]], no_url: [[{ method: 'GET' }]], numbers: [[5]], nulls: [[null]],
    bad_params: [[['GET', url, null, { timeout: 'x' }]]], method_number: [[{ method: 5, url }]], url_number: [[{ url: 5 }]],
  };
  for (const name of Object.keys(calls)) {
    try { const r = http.batch(...calls[name]); check(1, { [`${name}: ${Array.isArray(r)} ${JSON.stringify(Object.values(r).map((r) => r && [r.status, r.error]))}`]: true }); } catch (error) { check(1, { [`${name} throws ${error.message}`.replaceAll(__ENV.BASE_URL, 'BASE')]: true }); }
  }
}
