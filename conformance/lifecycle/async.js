// All functions may be asynchronous.
import { check } from 'k6';
const later = (value) => new Promise((resolve) => setTimeout(() => resolve(value), 20));
export async function setup() { return later({ a: 1 }); }
export default async function (data) { check(await later(data.a), { [`a ${data.a}`]: (a) => a === 1 }); }
export async function teardown(data) { await later(); check(data, { teardown: (data) => data.a === 1 }); }
