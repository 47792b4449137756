// dns.ttl: the server is asked again when the time is over.
// files: names.js
// resolver
import { showAsked } from './names.js';

export const options = { dns: { ttl: '500ms', select: 'first' }, noConnectionReuse: true };

export default function () {
  showAsked(0.35);
}
