import { two, second } from './two.js';
export function one() { return 'one'; }
export const first = 'first';
export const both = () => one() + two() + second;
