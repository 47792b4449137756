// A module on a server that throws while it is evaluated.
// imports
import '{MODULES}/throws_at_once.js';
export default function () {}
