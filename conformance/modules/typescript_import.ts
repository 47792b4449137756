// TypeScript that imports TypeScript.
// files: lib.ts
import { check } from 'k6';
import { double, type Pair } from './lib.ts';
export default function () { const pair: Pair = [2, double(2)]; check(pair, { [`pair ${pair}`]: true }); }
