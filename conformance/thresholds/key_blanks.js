// Blanks and quotes around names and values of a sub-metric's tags.
import { Counter } from 'k6/metrics';
const hits = new Counter('hits');
export const options = { thresholds: { 'hits{ kind : a b , "place":\'c\' }': ['count==1'], 'hits{kind:a b}': ['count==3'] } };
export default function () { hits.add(1, { kind: 'a b', place: 'c' }); hits.add(2, { kind: 'a b' }); hits.add(4, { kind: 'a' }); }
