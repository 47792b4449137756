// TrackElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<video><track id=a default kind=captions label=l src=s srclang=en><track id=b><track id=c kind=bogus></video>`;
const all = (read) => parseHTML(text).find('track[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.default()),
    () => all((e) => e.kind()),
    () => all((e) => e.label()),
    () => all((e) => e.src()),
    () => all((e) => e.srclang()),
  );
}
