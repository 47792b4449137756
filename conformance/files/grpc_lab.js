import grpc from 'k6/net/grpc';
import { check } from 'k6';

export const ADDRESS = __ENV.BASE_URL.replace('http://', '');

// k6 gives keys in any order.
const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
};

const clean = (text) =>
  text
    .replaceAll(ADDRESS, 'HOST')
    .replaceAll(ADDRESS.replace(/:.*/, ''), 'IP')
    .replace(/IP:\d+/g, 'PEER')
    .replace(/\u00a0/g, ' ');

export const show = (name, value) => check(1, { [clean(`${name} ${JSON.stringify(sorted(value))}`)]: true });

export const attempt = (name, call) => {
  let outcome;
  try {
    outcome = call();
  } catch (e) {
    show(`${name} throws`, String(e));
    return undefined;
  }
  show(name, outcome === undefined ? 'nothing' : outcome);
  return outcome;
};

export const loaded = (...files) => {
  const client = new grpc.Client();
  client.load(null, ...(files.length > 0 ? files : ['target.proto']));
  return client;
};

export const connect = (client, params) => client.connect(ADDRESS, { plaintext: true, ...params });

export const plain = (res) => ({
  status: Number(res.status),
  message: res.message,
  error: res.error,
  headers: res.headers,
  trailers: res.trailers,
});

// What becomes of one field, there and back.
export const back = (client, name, fields) =>
  attempt(name, () => {
    const res = client.invoke('target.Echo/All', fields);
    const said = Object.keys(res.message);
    const names = Object.keys(fields).filter((key) => said.includes(key));
    return { status: Number(res.status), error: res.error, said: Object.fromEntries(names.map((key) => [key, res.message[key]])) };
  });
