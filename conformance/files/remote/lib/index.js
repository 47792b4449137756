import { a } from '../a.js';
import { b } from '/b.js';
import { deep } from './deep.js';
export * from './deep.js';
export const all = a + b + deep;
export const place = import.meta.resolve('./deep.js?v=1');
