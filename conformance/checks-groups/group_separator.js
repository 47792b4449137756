// A group's name must not have ::.
import { check, group } from 'k6';
export default function () { group('a::b', () => check(1, { inside: true })); check(1, { 'not reached': true }); }
