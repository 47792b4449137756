// A module on a server that imports one that is not there.
// imports
import '{MODULES}/wants_missing.js';
export default function () {}
