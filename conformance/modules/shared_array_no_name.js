// A SharedArray without a name.
import { SharedArray } from 'k6/data';
new SharedArray('', () => [1]);
export default function () {}
