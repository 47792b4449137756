// Everything works in init code, in setup() and in teardown().
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const early = [crypto.sha1('init', 'hex'), crypto.hmac('md5', 'k', 'init', 'hex'), crypto.randomBytes(3).byteLength].join();

export function setup() {
  return crypto.sha1('setup', 'hex');
}

export default function (data) {
  report([
    ['init', () => early],
    ['setup', () => data],
  ]);
}

export function teardown(data) {
  report([['teardown', () => crypto.md5(data, 'base64')]]);
}
