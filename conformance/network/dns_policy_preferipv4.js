// dns.policy: preferIPv4.
// files: names.js
// ipv6
// resolver
import { showFamilies } from './names.js';

export const options = { dns: { ttl: '0', select: 'first', policy: 'preferIPv4' }, noConnectionReuse: true };

export default function () {
  showFamilies();
}
