// JSON in the place of a module.
// imports
import '{MODULES}/json.json';
export default function () {}
