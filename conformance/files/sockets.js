// Runs connections of k6/ws and k6/websockets and makes checks of all that happens on them.
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';
import { check } from 'k6';

const host = __ENV.BASE_URL.split('//')[1];
export const base = `ws://${host}`;

// Addresses differ from run to run, and names of checks may not have `::`.
function shown(text) {
  return text.split('::').join(';;').split(host).join('HOST').replace(/tcp [0-9.:]+->/g, 'tcp ');
}

export function say(text) {
  check(1, { [shown(text)]: true });
}

function value(v) {
  if (v === undefined) return '';
  if (v && v.error) return v.error();
  return v instanceof ArrayBuffer ? `${v.byteLength} bytes` : `${v}`;
}

// One connection of k6/ws. `f(socket, log)` is its setup.
export function legacy(name, path, params, f) {
  const log = [];
  try {
    const r = ws.connect(path.includes(':') ? path : base + path, params, (socket) => {
      for (const event of ['open', 'message', 'binaryMessage', 'ping', 'pong', 'close', 'error']) {
        socket.on(event, (v) => log.push(`${event}(${value(v)})`));
      }
      if (f) f(socket, log);
    });
    log.push(`=> ${r.status} <${r.url}> <${r.body}> <${r.error}>`);
  } catch (e) {
    log.push(`threw ${e}`);
  }
  say(`${name}: ${log.join(' | ')}`);
}

function event(e) {
  const own = [];
  if ('data' in e) own.push(typeof e.data === 'string' ? e.data : e.data instanceof ArrayBuffer ? `${e.data.byteLength} bytes` : `blob of ${e.data.size}`);
  if ('error' in e) own.push(e.error);
  if ('code' in e) own.push(e.code);
  if ('reason' in e) own.push(`<${e.reason}>`);
  return `${e.type}(${own.join(' ')})`;
}

// One connection of k6/websockets; the promise is fulfilled when it is over.
export function events(name, path, args, f) {
  return new Promise((resolve) => {
    const log = [];
    let socket;
    try {
      socket = new WebSocket(path.includes(':') ? path : base + path, ...(args || []));
    } catch (e) {
      say(`${name}: threw ${e}`);
      resolve();
      return;
    }
    for (const type of ['open', 'message', 'error', 'ping', 'pong', 'close']) {
      socket.addEventListener(type, (e) => log.push(`${socket.readyState} ${event(e)}`));
    }
    socket.addEventListener('close', () => {
      say(`${name}: ${log.join(' | ')}`);
      resolve();
    });
    try {
      if (f) f(socket, log);
    } catch (e) {
      log.push(`threw ${e}`);
    }
  });
}

export const on = (socket, type, f) => socket.addEventListener(type, f);
