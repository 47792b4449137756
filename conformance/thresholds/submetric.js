// Thresholds on parts of a metric by own tags.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = {
  iterations: 4,
  thresholds: { 'size{kind:even}': ['avg==10', 'max<10'], 'size{kind:odd}': ['avg==20'], 'size{kind:other}': ['avg==0'], size: ['avg==15'] },
};
export default function () {
  const odd = __ITER % 2;
  size.add(odd ? 20 : 10, { kind: odd ? 'odd' : 'even' });
}
