// A group returns what its function returns.
import { check, group } from 'k6';
export default function () { const value = group('g', () => 42); check(value, { [`value ${value}`]: true }); }
