// A page in the place of a module.
// imports
import '{MODULES}/page.js';
export default function () {}
