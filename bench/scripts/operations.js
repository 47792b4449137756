// A request and REPEAT times one operation of a module.
import http from 'k6/http';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';

const web = globalThis.crypto;
const kilobyte = 'abcdefghijklmnop'.repeat(64);
const bytes = new Uint8Array(1024).fill(97);
const text = 'abcdefghij'.repeat(1024);
const encoded = encoding.b64encode(text);
const repeat = Number(__ENV.REPEAT);
const operation = {
  sha256: () => crypto.sha256(kilobyte, 'hex'),
  hmac: () => crypto.hmac('sha256', 'a secret', kilobyte, 'hex'),
  b64encode: () => encoding.b64encode(text),
  b64decode: () => encoding.b64decode(encoded),
}[__ENV.OPERATION];
const iv = new Uint8Array(12);
let key;

export default async function () {
  http.get(__ENV.URL);
  if (__ENV.OPERATION === 'aesgcm') {
    key = key || (await web.subtle.importKey('raw', new Uint8Array(32), 'AES-GCM', false, ['encrypt']));
    for (let n = 0; n < repeat; n++) await web.subtle.encrypt({ name: 'AES-GCM', iv }, key, bytes);
  } else {
    for (let n = 0; n < repeat; n++) operation();
  }
}
