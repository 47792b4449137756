// open() in an iteration.
// files: data.json
import { check } from 'k6';
export default function () { open('./data.json'); check(1, { 'not reached': true }); }
