// A module whose server answers 500.
// imports
import '{MODULES}/status/500';
export default function () {}
