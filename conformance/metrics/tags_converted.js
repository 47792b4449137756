// out: json
// What a tag becomes whose type is not the one it should have, outside requests.
import { check } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const counted = new Counter('counted');
function attempt(what, act) {
  let result;
  try { result = act(); } catch (error) { result = `${error}`; }
  check(null, { [`${what}: ${result}`]: true });
}
export default function () {
  for (const [name, value] of [['bigint', 1n], ['Number', new Number(2)], ['Boolean', new Boolean(false)], ['String', new String('s')]]) {
    attempt(`add ${name}`, () => counted.add(1, { a: value }));
    attempt(`check ${name}`, () => check(1, { one: true }, { a: value }));
    for (const which of ['tags', 'metadata']) {
      attempt(`${which} of a VU ${name}`, () => {
        exec.vu.metrics[which].a = value;
        const kept = exec.vu.metrics[which].a;
        delete exec.vu.metrics[which].a;
        return kept;
      });
    }
  }
  for (const tags of ['xy', '', 5, true, null, undefined, ['z']]) {
    attempt(`add ${tags}`, () => counted.add(1, tags));
    attempt(`check ${tags}`, () => check(1, { one: true }, tags));
  }
}
