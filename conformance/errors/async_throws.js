// An asynchronous iteration that throws.
import { check } from 'k6';
export const options = { iterations: 2 };
export default async function () { check(1, { before: true }); await null; throw new Error('no'); }
