// dns.ttl: the server is asked once in five minutes.
// files: names.js
// resolver
import { showAsked } from './names.js';

export const options = { noConnectionReuse: true };

export default function () {
  showAsked();
}
