// A built-in metric declared again with its type gets the script's values as well.
import { Counter } from 'k6/metrics';
const iterations = new Counter('iterations');
export default function () { iterations.add(5); }
