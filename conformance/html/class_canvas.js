// CanvasElement.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe, outcome } from './probe.js';
const text = `<canvas id=a height=10 width=20></canvas><canvas id=b></canvas><canvas id=c height=x width=-1></canvas>`;
const all = (read) => parseHTML(text).find('canvas[id]').get().map((e) => `${e.id()}: ${outcome(() => read(e))}`);
export default function () {
  probe(
    () => all((e) => e.height()),
    () => all((e) => e.width()),
  );
}
