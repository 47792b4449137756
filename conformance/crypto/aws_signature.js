// The chain of keys of AWS signature version 4, with binary digests between.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const sign = (key, data) => crypto.hmac('sha256', key, data, 'binary');

export default function () {
  const date = sign('AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', '20120215');
  const service = sign(sign(date, 'us-east-1'), 'iam');
  report([
    ['date', () => crypto.hexEncode(date)],
    ['key', () => crypto.hexEncode(sign(service, 'aws4_request'))],
    ['signature', () => crypto.hmac('sha256', sign(service, 'aws4_request'), 'AWS4-HMAC-SHA256', 'hex')],
  ]);
}
