// The first line of error.stack is the error itself.
import { check } from 'k6';
const first = (error) => error.stack.split('\n')[0];
const caught = (act) => { try { act(); } catch (error) { return error; } };
export default function () {
  check(first(new Error('a')), { [`error: ${first(new Error('a'))}`]: () => true });
  check(null, { [`type error: ${first(new TypeError('b'))}`]: () => true });
  check(null, { [`without a message: ${first(new Error())}`]: () => true });
  check(null, { [`thrown by the engine: ${first(caught(() => missing))}`]: () => true });
  check(null, { [`lines: ${new Error('x').stack.split('\n').length > 1}`]: () => true });
}
