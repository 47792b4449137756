import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend', true);
const plain = new Trend('plain_trend');
if (__VU === 0) for (const [type, name] of [[Counter, 'a'], [Counter, ''], [Counter, '1a'], [Counter, 'with space'], [Counter, 'x'.repeat(200)], [Gauge, 'my_counter'], [Trend, 'my_trend']]) {
  try { new type(name); console.log('fine', name.length); } catch (e) { console.log(String(e)); }
}
if (__VU === 1) console.log(new Counter('my_counter') === counter, counter.name);
if (__VU === 0) try { counter.add(1); } catch (e) { console.log(String(e)); }
export default function () {
  console.log(counter.add(1), counter.add('2'), counter.add(true), counter.add(2.5), counter.add(false));
  console.log(gauge.add(5), gauge.add(-3), gauge.add('4'));
  console.log(rate.add(true), rate.add(0), rate.add(5), rate.add(''), rate.add('x'));
  console.log(trend.add(10), trend.add(20), trend.add('30'), plain.add(1), plain.add(7));
  console.log(counter.add(null), counter.add(NaN), counter.add('abc'), counter.add({}), counter.add(undefined), counter.add());
  console.log(counter.add(1, { tag: 'x', n: 1, b: false }));
  try { counter.add(1, { bad: {} }); } catch (e) { console.log(String(e)); }
  try { counter.add(1, { bad: null }); } catch (e) { console.log(String(e)); }
  try { counter.add(1, 'text'); } catch (e) { console.log(String(e)); }
  console.log(counter.add(-5));
  try { new Counter('late'); } catch (e) { console.log(String(e)); }
}
export function handleSummary(data) {
  for (const name of ['my_counter', 'my_gauge', 'my_rate', 'my_trend', 'plain_trend']) {
    const metric = data.metrics[name];
    delete metric.values.rate;
    console.log(name, metric.type, metric.contains, JSON.stringify(metric.values, Object.keys(metric.values).sort()));
  }
  return {};
}
