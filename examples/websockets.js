// Users who stay connected for a while and send a message now and then.
//
//   onrush target
//   onrush run examples/websockets.js
//
// BASE_URL: the server (default http://127.0.0.1:8080); SECONDS: how long each user stays (default 5).
import { WebSocket } from 'k6/websockets';
import { check } from 'k6';
import { Trend } from 'k6/metrics';

const base = (__ENV.BASE_URL || 'http://127.0.0.1:8080').replace('http', 'ws');
const seconds = Number(__ENV.SECONDS || 5);
const roundTrip = new Trend('round_trip', true);

export const options = {
  scenarios: { chat: { executor: 'per-vu-iterations', vus: 20, iterations: 1 } },
  thresholds: { round_trip: ['p(95)<500'], checks: ['rate==1'] },
};

export default function () {
  const socket = new WebSocket(`${base}/ws/echo`, ['chat'], { tags: { name: 'chat' } });
  let sent = 0;
  let received = 0;

  socket.addEventListener('open', () => {
    const talk = setInterval(() => {
      socket.send(JSON.stringify({ number: sent++, at: Date.now() }));
      socket.ping();
    }, 250);
    setTimeout(() => {
      clearInterval(talk);
      socket.close(1000, 'done');
    }, seconds * 1000);
  });

  socket.addEventListener('message', (event) => {
    const message = JSON.parse(event.data);
    roundTrip.add(Date.now() - message.at);
    check(message, { 'in order': (m) => m.number === received });
    received++;
  });

  socket.addEventListener('error', (event) => console.error(event.error));
  socket.addEventListener('close', (event) => check(event, { 'closed as asked': (e) => e.code === 1000 }));
}
