// Which of several wrong arguments is reported.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

export default function () {
  report([
    ['nothing', () => crypto.hmac()],
    ['algorithm only', () => crypto.hmac('md5')],
    ['no data', () => crypto.hmac('md5', 'key')],
    ['no encoding', () => crypto.hmac('md5', 'key', 'data')],
    ['algorithm and key wrong', () => crypto.hmac('x', 1, 'data', 'hex')],
    ['key and data wrong', () => crypto.hmac('md5', 1, {}, 'hex')],
    ['data and encoding wrong', () => crypto.hmac('md5', 'key', {}, 'x')],
    ['order of crypto libraries', () => crypto.hmac('data', 'key', 'sha256', 'hex')],
    ['createHMAC without key', () => crypto.createHMAC('md5')],
    ['createHMAC without anything', () => crypto.createHMAC()],
  ]);
}
