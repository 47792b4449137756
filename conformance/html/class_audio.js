// MediaElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<audio id=a autoplay controls crossorigin=x loop mediagroup=g muted preload=none src=s><track id=t><track id=t2></audio><audio id=b></audio><video id=c src=v preload=bogus></video>`;
const all = (read) => parseHTML(text).find('audio[id], video[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.autoplay()),
    () => all((e) => e.controls()),
    () => all((e) => e.crossOrigin()),
    () => all((e) => e.currentSrc()),
    () => all((e) => e.defaultMuted()),
    () => all((e) => e.loop()),
    () => all((e) => e.mediaGroup()),
    () => all((e) => e.muted()),
    () => all((e) => e.preload()),
    () => all((e) => e.src()),
    () => all((e) => e.textTracks()),
  );
}
