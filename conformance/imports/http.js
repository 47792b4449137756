// Modules are not fetched without encryption.
// imports
import '{BASE_URL}/a.js';
export default function () {}
