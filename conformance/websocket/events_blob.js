// k6/websockets: Blob.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { say } from './sockets.js';

import { Blob } from 'k6/websockets';

export default async function () {
  const look = async (name, blob) => say(`${name} ${blob.size} <${blob.type}> ${JSON.stringify(await blob.text())} ${(await blob.arrayBuffer()).byteLength} ${(await blob.bytes()).length}`);
  await look('nothing', new Blob());
  await look('null', new Blob(null));
  await look('texts', new Blob(['a', 'é']));
  await look('bytes', new Blob([new ArrayBuffer(3), new Uint16Array(2)], { type: 'a/b' }));
  await look('slice', new Blob(['hello world'], { type: 'a/b' }).slice(1, 3));
  await look('slice to the end', new Blob(['hello world']).slice(6));
  await look('slice with a type', new Blob(['hello world']).slice(0, 5, 'x/y'));
  for (const args of [[5], ['abc'], [[5]], [[null]], [[{}]], [{}], [['a'], 5], [['a'], null], [new Uint8Array(3)], [true]]) {
    try { await look(JSON.stringify(args), new Blob(...args)); } catch (e) { say(`${JSON.stringify(args)} ${e}`); }
  }
}
