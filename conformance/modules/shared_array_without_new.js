// A SharedArray without new.
import { SharedArray } from 'k6/data';
import { check } from 'k6';
const list = SharedArray('list', () => [1, 2]);
export default function () { check(list, { [`length ${list.length}`]: true }); }
