// Details of a status: a type that is known, one that is not, and nonsense.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();
const base64 = (list) => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const bits = list.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const text = (bits.match(/.{1,6}/g) || []).map((six) => letters[parseInt(six.padEnd(6, '0'), 2)]).join('');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
};
const bytes = (text) => [...text].map((letter) => letter.charCodeAt(0));
const packed = (field, value) => [field * 8 + 2, value.length, ...value];
const any = (type, value) => packed(3, [...packed(1, bytes(`type.googleapis.com/${type}`)), ...packed(2, value)]);
const status = (...details) => base64([8, 3, ...packed(2, bytes('m')), ...details.flat()]);

export default function () {
  connect(client);
  const fail = (details) => plain(client.invoke('target.Echo/Fail', { code: 3, message: 'm', details })).error;
  show('known', fail(status(any('target.Note', [...packed(1, bytes('hi')), 16, 5]))));
  show('two', fail(status(any('target.Note', packed(1, bytes('a'))), any('target.Phrase', packed(1, bytes('b'))))));
  show('none', fail(status()));
  show('unknown', fail(status(any('target.Stranger', []))));
}
