import { counter } from './lib/numbers.js';
export function increment() { counter.value += 1; }
