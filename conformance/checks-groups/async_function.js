// A check whose function is asynchronous.
import { check } from 'k6';
export default function () { check(1, { later: async () => false }); }
