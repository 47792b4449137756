// What exec has in setup().
import { check } from 'k6';
import exec from 'k6/execution';
export function setup() {
  let refused = '';
  try { exec.scenario.name; } catch (error) { refused = 'refused'; }
  check(1, { [`vu ${exec.vu.idInTest} ${__VU} scenario ${refused}`]: true });
}
export default function () {}
