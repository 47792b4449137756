// flags: --tag run=1
// out: json
// Tags that a VU sets and deletes again leave nothing behind, however many; one of the run that is deleted may be set again.
import { check } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const counted = new Counter('counted');
export default function () {
  const { tags } = exec.vu.metrics;
  for (let i = 0; i < 3000; i++) {
    tags[`t${i}`] = 'x';
    delete tags[`t${i}`];
    delete tags[`never${i}`];
  }
  counted.add(1);
  delete tags.run;
  delete tags.run;
  counted.add(2);
  tags.run = 2;
  counted.add(3);
  delete tags.run;
  check(null, { [`tags ${Object.keys(tags).sort()}`]: true });
}
