// exec.test.options has the consolidated options without shortcuts.
// flags: --tag a=b --batch 7
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { iterations: 2, vus: 1, maxRedirects: 3, noCookiesReset: true };
export default function () {
  const o = exec.test.options;
  check(o, {
    [`iterations ${o.iterations}`]: true,
    [`vus ${o.vus}`]: true,
    [`batch ${o.batch}`]: true,
    [`maxRedirects ${o.maxRedirects}`]: true,
    [`noCookiesReset ${o.noCookiesReset}`]: true,
    [`tags ${JSON.stringify(o.tags)}`]: true,
    [`scenarios ${Object.keys(o.scenarios)}`]: true,
    [`executor ${o.scenarios.default.executor}`]: true,
    [`shared ${o.scenarios.default.iterations} ${o.scenarios.default.vus} ${o.scenarios.default.maxDuration}`]: true,
  });
}
