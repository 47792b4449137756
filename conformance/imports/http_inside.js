// Nor by modules on servers.
// imports
import '{MODULES}/wants_http.js';
export default function () {}
