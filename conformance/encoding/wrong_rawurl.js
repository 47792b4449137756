// Where a text is not rawurl Base64.
// files: results.js
import encoding from 'k6/encoding';
import { report } from './results.js';

const texts = [
  'YQ',
  'YQ=',
  'YQ==',
  'YQ===',
  'YQ==x',
  'YQ=x',
  'Y',
  'Y=',
  'Y==',
  '=',
  '==',
  '====',
  'YWJj=',
  'YWJj==',
  'YWJj====',
  'YWJjY',
  'YWJjY=',
  'YWJjYQ',
  'Y*Q=',
  'Y Q=',
  'YQ= =',
  'YQ ==',
  '*',
  'YWJ*',
  'YWJjYWJ*',
  'YQ==YQ==',
  'YR==',
  'YWK=',
  '+/+/',
  '-_-_',
  '+_',
  'éé==',
  'YWé=',
  'YWJjé',
  '日本',
  '\u0000',
  'YQ\u0000=',
  '😀',
];

export default function () {
  report(texts.map((text) => [JSON.stringify(text), () => encoding.b64decode(text, 'rawurl')]));
}
