// dns.select: roundRobin goes on where it was, whatever the ttl, for each name by itself.
// files: names.js
// resolver
import { showTurns } from './names.js';

export const options = { dns: { ttl: 'inf', select: 'roundRobin' }, noConnectionReuse: true };

export default function () {
  showTurns();
}
