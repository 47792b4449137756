// dns.policy: onlyIPv4.
// files: names.js
// ipv6
// resolver
import { showFamilies } from './names.js';

export const options = { dns: { ttl: '0', select: 'first', policy: 'onlyIPv4' }, noConnectionReuse: true };

export default function () {
  showFamilies();
}
