// A promise nobody catches.
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () { Promise.reject(new Error('no')); check(1, { reached: true }); }
