// The fragment belongs to the name, too, but is not sent.
// imports
import { check } from 'k6';
import { state as first, query } from '{MODULES}/query.js#a';
import { state as second } from '{MODULES}/query.js#b';
export default function () { check(1, { [`${query}, ${first === second}`]: true }); }
