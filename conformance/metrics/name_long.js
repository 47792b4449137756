// The longest name, and one that is longer.
import { Counter } from 'k6/metrics';
const longest = new Counter('a'.repeat(128));
let refused = 0;
try { new Counter('a'.repeat(129)); } catch (error) { refused = 1; }
import { check } from 'k6';
export default function () { longest.add(1); check(refused, { refused: (n) => n === 1 }); }
