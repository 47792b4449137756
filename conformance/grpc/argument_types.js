// Messages and parameters that are no objects, and times that have passed.
// files: grpc_lab.js target.proto everything.proto legacy.proto
import grpc from 'k6/net/grpc';
import { ADDRESS, attempt, connect, loaded } from './grpc_lab.js';

const client = loaded();
const METHOD = 'target.Echo/Say';

export default function () {
  connect(client);
  attempt('nothing', () => client.invoke(METHOD));
  for (const [name, message] of Object.entries({
    function: () => 1, class: class A {}, symbol: Symbol('a'), null: null, undefined, text: 'x', number: 5, bigint: 10n,
    list: [() => 1], 'function within': { text: () => 1 }, date: new Date(0), pattern: /a/,
  })) {
    attempt(`message ${name}`, () => client.invoke(METHOD, message).message);
  }
  for (const [name, params] of Object.entries({
    text: 'x', 'no text': '', number: 5, list: [], 'list of one': [1], function: () => 1,
    'function with more': Object.assign(() => 1, { a: 1 }), symbol: Symbol('a'),
  })) {
    attempt(`params ${name}`, () => client.invoke(METHOD, { text: 'x' }, params).message);
    attempt(`stream params ${name}`, () => { new grpc.Stream(client, 'target.Flow/Mirror', params).end(); });
  }
  for (const timeout of [-1, -0.5, '-1s', '-1us', NaN]) {
    attempt(`timeout ${timeout}`, () => {
      const { error, message } = client.invoke(METHOD, { text: 'x' }, { timeout });
      return [error.message, Number(error.code), message];
    });
    attempt(`stream timeout ${timeout}`, () => { new grpc.Stream(client, 'target.Flow/Mirror', { timeout }).end(); });
  }
  for (const [name, params] of Object.entries({
    text: 'x', 'timeout 0': { plaintext: true, timeout: 0 }, 'timeout -1': { plaintext: true, timeout: -1 },
    'timeout -1s': { plaintext: true, timeout: '-1s' },
  })) {
    attempt(`connect ${name}`, () => new grpc.Client().connect(ADDRESS, params));
  }
}
