// A module that cannot be read.
// files: broken.js
import './broken.js';
export default function () {}
