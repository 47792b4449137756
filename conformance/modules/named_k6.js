// Names and defaults of k6's modules.
import { check } from 'k6';
import k6, * as all from 'k6';
import http, { get, CookieJar } from 'k6/http';
import { scenario } from 'k6/execution';
import { Counter } from 'k6/metrics';
import metrics from 'k6/metrics';
export default function () {
  check(1, {
    [`k6 ${Object.keys(k6).sort()}`]: true,
    [`same ${k6.check === check} ${http.get === get} ${metrics.Counter === Counter} ${http.CookieJar === CookieJar}`]: true,
    [`scenario ${scenario.name}`]: true,
  });
}
