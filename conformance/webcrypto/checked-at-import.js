// Keys k6 takes although they cannot be right: Onrush refuses them when they are read.
import { check } from 'k6';

const subtle = crypto.subtle;
const note = (name) => check(null, { [name]: () => true });

// The key of RFC 6979, A.2.5.
const KEY = { kty: 'EC', crv: 'P-256', x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y', y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk', d: 'ya-p2EW6dRZrXCFXZ7HWk05Qw9s26JsSe4piKxIPZyE' };
const unhex = (text) => new Uint8Array(text.match(/../g).map((x) => parseInt(x, 16)));

export default async function () {
  const { kty, crv, x, y } = KEY;
  const outcome = async (label, call) => { try { await call(); note(`${label}: read`); } catch (e) { note(`${label}: ${String(e)}`); } };
  const read = (key, namedCurve) => subtle.importKey('jwk', key, { name: 'ECDSA', namedCurve }, true, ['verify']);
  await outcome('off the curve', () => read({ kty, crv, x, y: x }, 'P-256'));
  await outcome('another curve', () => read({ kty, crv, x, y }, 'P-384'));
  await outcome('another half', () => subtle.importKey('jwk', { ...KEY, d: 'AQ' }, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']));
  const key = await subtle.importKey('jwk', KEY, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']);
  const more = new Uint8Array([...new Uint8Array(await subtle.exportKey('pkcs8', key)), 0]);
  await outcome('bytes after it', () => subtle.importKey('pkcs8', more, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']));
}
