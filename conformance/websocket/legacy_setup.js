// k6/ws in setup() and teardown().
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export function setup() {
  legacy('setup', '/ws/close?code=1000', {});
}

export default function () {}

export function teardown() {
  legacy('teardown', '/ws/close?code=1000', {});
}
