// k6/websockets: a connection that the end of the scenario cuts.
// varies: ws_connecting ws_session_duration ws_ping


import { WebSocket } from 'k6/websockets';

export const options = { scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };

export default function () {
  new WebSocket(`${__ENV.BASE_URL.replace('http', 'ws')}/ws/echo`);
}
