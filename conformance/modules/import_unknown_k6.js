// A k6 module that does not exist.
import 'k6/nonsense';
export default function () {}
