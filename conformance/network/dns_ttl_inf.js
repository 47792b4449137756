// dns.ttl: the server is asked once.
// files: names.js
// resolver
import { showAsked } from './names.js';

export const options = { dns: { ttl: 'inf', select: 'first' }, noConnectionReuse: true };

export default function () {
  showAsked();
}
