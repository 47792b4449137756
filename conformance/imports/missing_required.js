// A require() that fails is an error that can be caught.
// imports
import { check } from 'k6';
let text = 'nothing';
try { require('{MODULES}/not_there.js'); } catch (error) { text = error.message.split(__ENV.MODULES).join('MODULES'); }
export default function () { check(1, { [text]: true }); }
