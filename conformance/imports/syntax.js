// A module with a syntax error.
// imports
import '{MODULES}/syntax.js';
export default function () {}
