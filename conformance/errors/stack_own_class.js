// The first line of error.stack of an own class, whose name is set after Error() has made it.
import { check } from 'k6';
class Mine extends Error { constructor(text) { super(text); this.name = 'Mine'; } }
export default function () { check(null, { [new Mine('a').stack.split('\n')[0]]: () => true }); }
