// A module whose server answers 204.
// imports
import '{MODULES}/status/204';
export default function () {}
