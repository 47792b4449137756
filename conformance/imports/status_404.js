// A module whose server answers 404.
// imports
import '{MODULES}/status/404';
export default function () {}
