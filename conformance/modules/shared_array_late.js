// A SharedArray in an iteration.
import { SharedArray } from 'k6/data';
import { check } from 'k6';
export default function () { new SharedArray('users', () => [1]); check(1, { 'not reached': true }); }
