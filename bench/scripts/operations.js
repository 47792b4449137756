// A request and REPEAT times one operation of a module.
import http from 'k6/http';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';

const kilobyte = 'abcdefghijklmnop'.repeat(64);
const text = 'abcdefghij'.repeat(1024);
const encoded = encoding.b64encode(text);
const repeat = Number(__ENV.REPEAT);
const operation = {
  sha256: () => crypto.sha256(kilobyte, 'hex'),
  hmac: () => crypto.hmac('sha256', 'a secret', kilobyte, 'hex'),
  b64encode: () => encoding.b64encode(text),
  b64decode: () => encoding.b64decode(encoded),
}[__ENV.OPERATION];

export default function () {
  http.get(__ENV.URL);
  for (let n = 0; n < repeat; n++) operation();
}
