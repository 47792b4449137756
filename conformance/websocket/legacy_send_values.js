// k6/ws: values for send() and sendBinary().
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  for (const [name, v] of [['undefined', undefined], ['null', null], ['1', 1], ['object', {}], ['array', [1, 2]], ['true', true], ['own', { toString: () => 'own' }]]) {
    legacy(`send ${name}`, '/ws/echo', {}, (s) => { s.on('message', () => s.close(1000)); s.send(v); });
  }
  legacy('send nothing', '/ws/echo', {}, (s) => { s.on('message', () => s.close(1000)); s.send(); });
  for (const [name, v] of [['undefined', undefined], ['null', null], ['1', 1], ['object', {}], ['array', [1]], ['text', 'x'], ['view', new Uint8Array(2)], ['true', true], ['function', () => 1]]) {
    legacy(`sendBinary ${name}`, '/ws/echo', {}, (s, log) => { try { s.sendBinary(v); } catch (e) { log.push(`${e}`); } s.close(1000); });
  }
  legacy('sendBinary nothing', '/ws/echo', {}, (s, log) => { try { s.sendBinary(); } catch (e) { log.push(`${e}`); } s.close(1000); });
}
