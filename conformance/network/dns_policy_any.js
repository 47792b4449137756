// dns.policy: any.
// files: names.js
// ipv6
// resolver
import { showFamilies } from './names.js';

export const options = { dns: { ttl: '0', select: 'first', policy: 'any' }, noConnectionReuse: true };

export default function () {
  showFamilies();
}
