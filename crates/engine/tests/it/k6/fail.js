import { fail } from 'k6';
export const options = { iterations: 4 };
export default function () {
  if (__ITER === 0) fail('with a reason');
  if (__ITER === 1) fail();
  if (__ITER === 2) { try { fail('caught'); } catch (e) { console.log(e instanceof Error, e.message, String(e)); } throw 'a plain string'; }
  if (__ITER === 3) throw { code: 7, toString() { return 'own text'; } };
}
