// SharedArray: made once, the same for all, and fixed.
// files: data.json
import { check } from 'k6';
import { SharedArray } from 'k6/data';
const users = new SharedArray('users', () => JSON.parse(open('./data.json')).users);
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
export default function () {
  let refused = 'allowed';
  try { users[0] = 1; } catch (error) { refused = 'refused'; }
  let inner = 'allowed';
  try { users[0].name = 'x'; } catch (error) { inner = 'refused'; }
  check(users, {
    [`length ${users.length} name ${users[1].name} write ${refused} inner ${inner}`]: true,
    [`names ${users.map((user) => user.name)}`]: true,
    [`of ${[...users].length} ${Array.isArray(users)} ${users[9]}`]: true,
  });
}
