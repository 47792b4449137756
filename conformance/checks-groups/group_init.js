// A group in init code.
import { group } from 'k6';
group('g', () => {});
export default function () {}
