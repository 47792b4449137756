// A name that does not exist.
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () { check(1, { before: true }); nonsense(); check(1, { after: true }); }
