// A name that a module on a server does not export.
// imports
import { nope } from '{MODULES}/a.js';
export default function () { nope(); }
