// Parameters of a call that cannot be used.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();
const say = (params) => Number(client.invoke('target.Echo/Say', { text: 'x' }, params).status);

export default function () {
  connect(client);
  for (const [name, params] of Object.entries({
    none: undefined,
    null: null,
    empty: {},
    timeout: { timeout: 5000 },
    'timeout text': { timeout: '5s' },
    'timeout zero': { timeout: 0 },
    'timeout bool': { timeout: true },
    'timeout word': { timeout: 'soon' },
    'metadata text': { metadata: 'x' },
    'metadata number': { metadata: { a: 1 } },
    'metadata list': { metadata: { a: ['b'] } },
    'metadata bin text': { metadata: { 'a-bin': 'b' } },
    'metadata bin buffer': { metadata: { 'a-bin': new Uint8Array([1]).buffer } },
    'metadata bin': { metadata: { 'a-bin': new Uint8Array([1]) } },
    'metadata null': { metadata: null },
    tags: { tags: { a: 'b', c: 1, d: true } },
    'tags object': { tags: { a: {} } },
    discard: { discardResponseMessage: true },
    'discard text': { discardResponseMessage: 'yes' },
  })) {
    attempt(name, () => say(params));
  }
}
