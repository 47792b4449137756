import { one, first } from './one.js';
export function two() { return `two of ${one()}`; }
export const second = 'second';
export const seen = () => first;
