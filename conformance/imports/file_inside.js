// Modules on servers import no files.
// imports
import '{MODULES}/wants_file.js';
export default function () {}
