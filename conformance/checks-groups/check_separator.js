// A check's name must not have ::.
import { check } from 'k6';
export default function () { check(1, { 'a::b': true }); check(1, { 'not reached': true }); }
