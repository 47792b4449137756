// k6/ws: frames that are unusual and allowed.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  for (const [name, data] of [['16 bit length of 1', '817e000161'], ['64 bit length of 1', '817f000000000000000161'], ['empty text', '8100'], ['empty fragments', '010000000000800161'], ['no UTF-8', '8101ff'], ['half a letter', '8101c3'], ['a letter in two pieces', '0101c38001a9'], ['ping in a message', '01016189008001628900'], ['empty ping', '8900'], ['ping of 125', '897d' + '61'.repeat(125)], ['surrogate', '8103eda080'], ['NUL', '810100']]) {
    legacy(name, `/ws/raw?data=${data}`, {});
  }
}
