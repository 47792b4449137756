// dns.policy: onlyIPv6.
// files: names.js
// ipv6
// resolver
import { showFamilies } from './names.js';

export const options = { dns: { ttl: '0', select: 'first', policy: 'onlyIPv6' }, noConnectionReuse: true };

export default function () {
  showFamilies();
}
