// Hashers do not share anything, and live from init on.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const early = crypto.createHash('md5');
early.update('in');

export default function () {
  const [one, other] = [crypto.createHash('sha1'), crypto.createHash('sha1')];
  one.update('one');
  other.update('other');
  early.update('it');
  report([
    ['one', () => one.digest('hex') === crypto.sha1('one', 'hex')],
    ['other', () => other.digest('hex') === crypto.sha1('other', 'hex')],
    ['early', () => early.digest('hex') === crypto.md5('init', 'hex')],
  ]);
}
