// A SharedArray and a metric made by modules on servers.
// imports
import { check } from 'k6';
import { list } from '{MODULES}/shared.js';
import { counted } from '{MODULES}/metrics.js';
export const options = { vus: 2, iterations: 2 };
export default function () { counted.add(list.length); check(1, { [`${list[2]}`]: true }); }
