// k6/ws: a connection that the end of the scenario cuts.
// varies: ws_connecting ws_session_duration ws_ping


import ws from 'k6/ws';

export const options = { scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };

export default function () {
  ws.connect(`${__ENV.BASE_URL.replace('http', 'ws')}/ws/echo`, {}, () => {});
}
