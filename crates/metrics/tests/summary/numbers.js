// How numbers, durations, rates and names are written, and in which order.
import { Trend, Counter, Gauge, Rate } from 'k6/metrics';

const names = ['Ab', 'aB', 'ab', 'AB', 'a_b', 'a1', '_x', 'A_c', 'a10', 'a2', 'Zz', 'zz', '_A', 'ab_', 'ab1', 'aba', 'Vus', 'HTTP_x'];
const named = names.map((name) => new Gauge(name));
const table = (prefix, values, isTime) => values.map((value, i) => ({ gauge: new Gauge(prefix + String(i).padStart(3, '0'), isTime), value }));
const gauges = [
  ...table('v', [0, 1, 0.5, 0.1234565, 0.1234575, 1.0000005, 123456789.123456789, 1e20, 1e21, 1.5e22, 1e-7, 4.9e-7, 5.1e-7, 0.000001,
    1 / 3, 2 / 3, 1e15 + 0.3, 9007199254740993, 1e300, 1 / 128, 3 / 128, 5 / 128, 7 / 128, 9 / 128, 123.0234375, 2.5e-6, 0.0000005,
    1e21 - 1e5, 999999999999999.9, 1.7976931348623157e308, 5e-324, 0.1 + 0.2, 100, 1e6, 1234567.891, 12.34567890123], false),
  ...table('t', [0, 1, 0.5, 0.0000001, 0.000001, 0.00000149, 0.000999, 0.001, 0.0010001, 0.00123456, 0.999, 0.9999, 0.99999, 0.999999,
    1.005, 1.009, 1.999, 9.999, 999, 999.99, 999.999, 1000, 1001, 1005, 1009, 59990, 59999, 59999.9, 60000, 60001, 60999, 61000, 61999,
    119999, 3599999, 3599999.9, 3600000, 3661000, 3661999, 86400000, 90061000, 1e12, 1e15, 1e20, 1e21, 1.1, 1.15, 2.3, 4.35, 8.2, 1.01,
    1.1000001, 29.29, 1234.5678, 0.0000016, 0.0000006, 0.0009996, 0.00000999, 0.0000125, 1e-9, 0.00057, 0.000029, 0.00112, 0.00229,
    1023.456, 1150, 2300, 60000.5, 61999.999, 0.00115, 0.0023, 7199999.99, 3600001, 0.000256, 0.000511], true),
];
const rates = [[29, 100], [57, 100], [58, 100], [7, 100], [1, 3], [2, 3], [1, 7], [999, 1000], [9999, 10000], [1, 100000], [1, 1000],
  [14, 100], [28, 100], [55, 100], [56, 100], [113, 1000], [1133, 10000], [5, 8]]
  .map(([hits, total], i) => ({ rate: new Rate('r' + String(i).padStart(3, '0')), hits, total }));
const negative = new Counter('negc'), big = new Counter('bigc'), timeCounter = new Counter('ctime', true), sum = new Counter('sumc');
const trend = new Trend('tr');

export const options = {
  summaryTrendStats: ['p(90)', 'count', 'med', 'p(99.90)', 'p(0)', 'p(100)', 'p(50)', 'avg', 'p(.5)', 'p(1e1)'],
  thresholds: {
    'zz{a:b}': ['value<1'], Zz: ['value<1'], 'ab{x:1}': ['value<1'], ab: ['value<1'], AB: ['value<1'], Ab: ['value<1'], aB: ['value<1'],
    aba: ['value<1'], ab_: ['value<1'], 'ab{c:1}': ['value<1'], 'ab{B:1,A:2}': ['value<1'], 'a_b{z:日本}': ['value<1'],
    'a_b{z:é}': ['value<1'], "a_b{ z : '😀' }": ['value<1'], ctime: ['rate>1', 'count>1'], t009: ['value>1'],
    r000: ['rate<1', 'rate > 0.1', 'rate==0.29', 'rate===0.29', '  rate  >=  0.29  '],
    tr: ['p(99.9)<1', 'p(95.0)<1', 'p(1e1)>1', 'avg<1e3', 'avg<+Inf', 'med<.5'],
  },
};

export default function () {
  named.forEach((gauge) => gauge.add(1));
  gauges.forEach(({ gauge, value }) => gauge.add(value));
  rates.forEach(({ rate, hits, total }) => { for (let i = 0; i < total; i++) rate.add(i < hits); });
  negative.add(-5.25); big.add(1e21); timeCounter.add(0.00004); sum.add(0.1); sum.add(0.2);
  for (let i = 0; i < 11; i++) trend.add(i);
}

export function handleSummary(data) { console.log('DATA=' + JSON.stringify(data)); return null; }
