// An answer of a language model, piece by piece: time to the first piece, tokens a second, and a visitor who leaves early.
//
// BASE_URL: http://127.0.0.1:8080   TOKENS: 50   PAUSE_MS: 20
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Trend } from 'k6/metrics';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const TOKENS = Number(__ENV.TOKENS || 50);
const PAUSE_MS = Number(__ENV.PAUSE_MS || 20);

export const options = {
  scenarios: {
    chat: { executor: 'per-vu-iterations', vus: 5, iterations: 2 },
  },
  thresholds: {
    'http_stream_time_to_first_chunk{name:chat}': ['p(95)<2000'],
    http_stream_chunk_interval: ['p(95)<1000'],
    tokens_per_second: ['med>1'],
    checks: ['rate==1'],
  },
};

const tokens = new Counter('tokens');
const speed = new Trend('tokens_per_second');

// Lines of JSON, whatever the pieces are in which they arrive.
function* lines(body) {
  const decoder = new TextDecoder();
  let rest = '';
  for (const chunk of body) {
    const complete = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = complete.pop();
    yield* complete.map((line) => JSON.parse(line));
  }
}

function ask(prompt, most) {
  const url = `${BASE_URL}/stream?count=${TOKENS}&interval_ms=${PAUSE_MS}`;
  const params = { responseType: 'stream', headers: { 'Content-Type': 'application/json' }, tags: { name: 'chat' }, timeout: '60s' };
  const response = http.post(url, JSON.stringify({ prompt, stream: true }), params);
  check(response, { 'the answer begins': (r) => r.status === 200 });
  const start = Date.now();
  let count = 0;
  for (const part of lines(response.body)) {
    count += 1;
    if (part.done || count === most) {
      break; // The rest is not read, and the connection is closed.
    }
  }
  tokens.add(count);
  speed.add((count * 1000) / Math.max(1, Date.now() - start));
  return count;
}

export default function () {
  check(ask('Tell me a story', Infinity), { 'all of it came': (count) => count === TOKENS });
  check(ask('Tell me a longer one', 3), { 'three tokens were enough': (count) => count === 3 });
}
