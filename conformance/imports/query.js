// The query belongs to the name; a mark is added to it.
// imports
import { check } from 'k6';
import { query as none, state as first } from '{MODULES}/query.js';
import { query as one, state as second } from '{MODULES}/query.js?v=1';
import { query as two } from '{MODULES}/query.js?v=2&x=%20';
export default function () { check(1, { [`${none}, ${one}, ${two}, ${first === second}`]: true }); }
