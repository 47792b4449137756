import { Counter } from 'k6/metrics';
export const options = { throw: true };
const counter = new Counter('my_counter');
export default function () {
  try { console.log(counter.add('abc')); } catch (e) { console.log(String(e)); }
  try { console.log(counter.add()); } catch (e) { console.log(String(e)); }
  try { console.log(counter.add(null)); } catch (e) { console.log(String(e)); }
}
