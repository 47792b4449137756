// A request, and REPEAT times a function of an extension or the same in JavaScript.
//
// URL         where the request goes
// OPERATION   call (a checksum of nothing), crc32 (of 1 KB), javascript (the same without an extension), none
// REPEAT      how often
// EXTENSION   path of the extension's file; without it none is loaded
// SLEEP       seconds to sleep after that
import http from 'k6/http';
import { sleep } from 'k6';

const extension = __ENV.EXTENSION ? require(__ENV.EXTENSION) : {};
const kilobyte = 'abcdefghijklmnop'.repeat(64);
const bytes = new Uint8Array(1024).map((_, index) => kilobyte.charCodeAt(index));
const table = new Int32Array(256).map((_, index) => {
  for (let bit = 0; bit < 8; bit++) index = index & 1 ? (index >>> 1) ^ 0xedb88320 : index >>> 1;
  return index;
});
const operation = {
  call: () => extension.crc32(''),
  crc32: () => extension.crc32(kilobyte),
  javascript: () => {
    let sum = -1;
    for (let index = 0; index < bytes.length; index++) sum = table[(sum ^ bytes[index]) & 255] ^ (sum >>> 8);
    return ~sum >>> 0;
  },
  none: () => {},
}[__ENV.OPERATION];
const repeat = Number(__ENV.REPEAT);
const pause = Number(__ENV.SLEEP || 0);

if (extension.crc32 && extension.crc32('123456789') !== 0xcbf43926) throw new Error('the extension is wrong');

export default function () {
  http.get(__ENV.URL);
  for (let n = 0; n < repeat; n++) operation();
  if (pause > 0) sleep(pause);
}
