// dns.ttl: the server is asked again: a number is milliseconds.
// files: names.js
// resolver
import { showAsked } from './names.js';

export const options = { dns: { ttl: '1', select: 'first' }, noConnectionReuse: true };

export default function () {
  showAsked(0.05);
}
