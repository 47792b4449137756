// The usual mode has global.
import { check } from 'k6';
export default function () { check(1, { [`global ${typeof global} ${typeof globalThis} ${typeof window} ${typeof process}`]: true }); }
