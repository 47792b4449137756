// A module that throws.
// files: throws.js
import './throws.js';
export default function () {}
