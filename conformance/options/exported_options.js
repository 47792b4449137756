// The exported object is overwritten with the consolidated values.
// flags: --tag a=b
import { check } from 'k6';
export const options = { iterations: 1, tags: { c: 'd' }, mine: 5 };
export default function () {
  check(1, { [`tags ${JSON.stringify(options.tags)}`]: true, [`mine ${options.mine}`]: true, [`iterations ${options.iterations}`]: true });
}
