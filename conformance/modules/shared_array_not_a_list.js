// A SharedArray of something that is not a list.
import { SharedArray } from 'k6/data';
new SharedArray('users', () => ({ a: 1 }));
export default function () {}
