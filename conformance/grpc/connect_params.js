// Parameters of a connection that cannot be used.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, back, connect, loaded, plain, show } from './grpc_lab.js';

const client = loaded();

export default function () {
  for (const [name, params] of Object.entries({
    plaintext: { plaintext: 'yes' },
    'plaintext number': { plaintext: 1 },
    reflect: { reflect: 'yes' },
    'reflect object': { reflect: { a: 1 } },
    reflectMetadata: { reflectMetadata: { a: 1 } },
    'reflectMetadata text': { reflectMetadata: 'x' },
    timeout: { timeout: true },
    'timeout word': { timeout: 'soon' },
    maxReceiveSize: { maxReceiveSize: '1' },
    'maxReceiveSize fraction': { maxReceiveSize: 1.5 },
    'maxReceiveSize negative': { maxReceiveSize: -1 },
    maxSendSize: { maxSendSize: 'a lot' },
    'maxSendSize negative': { maxSendSize: -7 },
    authority: { authority: 1 },
    tls: { tls: 'yes' },
    'tls cert': { tls: { cert: 0 } },
    'tls key': { tls: { key: true } },
    'tls password': { tls: { password: 1.5 } },
    'tls cacerts': { tls: { cacerts: 1 } },
    'tls cacerts list': { tls: { cacerts: ['a', 1] } },
    'tls cacerts text': { tls: { cacerts: 'no pem' } },
    other: { other: 1 },
    lazy: { lazy: true },
  })) {
    attempt(name, () => client.connect(ADDRESS, params));
  }
}
