import { check, group } from 'k6';
import http from 'k6/http';
export const options = { iterations: 2 };
export async function setup() { const r = await http.asyncRequest('GET', `http://${__ENV.TARGET}/get?n=7`); return { n: r.json('args.n'), list: [1, { a: null }] }; }
export default async function (data) {
  console.log(JSON.stringify(data, ['a', 'list', 'n', 'seen']));
  await Promise.resolve(); data.seen = (data.seen || 0) + 1;
  const r = await http.asyncRequest('POST', `http://${__ENV.TARGET}/post`, { a: 1 }); console.log(check(r, { ok: (x) => x.status === 200 }), JSON.stringify(r.json('form')));
  group('g', () => console.log('in group'));
}
export async function teardown(data) { await null; console.log('teardown', data.n, data.seen); }
export async function handleSummary(data) { await null; console.log(data.root_group.checks.length, data.setup_data.n); return {}; }
