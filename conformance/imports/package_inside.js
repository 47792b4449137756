// Nor packages.
// imports
import '{MODULES}/wants_package.js';
export default function () {}
