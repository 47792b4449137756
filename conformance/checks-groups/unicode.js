// Names in other scripts.
import { check, group } from 'k6';
export default function () { group('Größe ✓', () => check(1, { '状態は 200': true, '🚀': false })); }
