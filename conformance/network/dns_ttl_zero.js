// dns.ttl: the server is asked for each connection.
// files: names.js
// resolver
import { showAsked } from './names.js';

export const options = { dns: { ttl: '0', select: 'first' }, noConnectionReuse: true };

export default function () {
  showAsked();
}
