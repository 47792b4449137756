// A server that wants a login.
// imports
import { a } from '{MODULES}/private/a.js';
export default function () { a.length; }
