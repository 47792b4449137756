// Feeds seeded data to Trends and writes what k6 makes of them. Record it with
//   k6 run --quiet --summary-trend-stats 'min,max,avg,med,p(0),p(1),p(10),p(25),p(50),p(75),p(90),p(95),p(99),p(99.9),p(99.99),p(100),count' \
//     crates/metrics/tests/percentiles/record.js
// in the root of the repository, which writes k6.json beside this file. The test makes the same data by itself.
import { Trend } from 'k6/metrics';

/** Mulberry32: 32 bits of state, the same numbers in every language. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t = (t ^ (t + Math.imul(t ^ (t >>> 7), t | 61))) >>> 0;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Only arithmetic that every machine rounds alike: no logarithms, no powers.
const sets = {
  uniform: [20000, (next) => next() * 1000],
  // The sum of geometric halves: falls off as an exponential distribution does.
  exponential: [20000, (next) => { let scale = 1; while (next() < 0.5 && scale < 1e6) { scale *= 2; } return scale * next(); }],
  bimodal: [20000, (next) => (next() < 0.9 ? 10 + next() : 900 + 200 * next())],
  // From a nanosecond to a second and beyond, in milliseconds.
  nine_decades: [20000, (next) => { let scale = 1e-6; const decades = Math.floor(next() * 10); for (let i = 0; i < decades; i++) { scale *= 10; } return scale * (1 + 9 * next()); }],
  outliers: [20000, (next) => (next() < 0.999 ? 5 + next() : 1e9 * (1 + next()))],
  negatives: [20000, (next) => (next() - 0.7) * 100],
  zeros: [20000, (next) => (next() < 0.95 ? 0 : 3 + next())],
  whole_numbers: [20000, (next) => Math.floor(next() * 50)],
  constant: [1000, () => 42.5],
  sixty_four: [64, (next) => next() * 1000],
  sixty_five: [65, (next) => next() * 1000],
};
for (let count = 1; count <= 10; count++) {
  sets[`tiny_${count}`] = [count, (next) => next() * 100 - 20];
}

const trends = {};
for (const name of Object.keys(sets)) {
  trends[name] = new Trend(`set_${name}`);
}

export const options = { iterations: 1 };

export default function () {
  Object.keys(sets).forEach((name, index) => {
    const [count, make] = sets[name];
    const next = random(index + 1);
    for (let i = 0; i < count; i++) {
      trends[name].add(make(next));
    }
  });
}

export function handleSummary(data) {
  const recorded = {};
  for (const name of Object.keys(sets)) {
    recorded[name] = data.metrics[`set_${name}`].values;
  }
  return { 'crates/metrics/tests/percentiles/k6.json': JSON.stringify(recorded, null, 1) + '\n' };
}
