// What calls return or throw, one check each: bytes in hex, errors by name and message.
import { check } from 'k6';

export function show(value) {
  if (value instanceof ArrayBuffer) return `buffer ${show(new Uint8Array(value))}`;
  if (ArrayBuffer.isView(value)) return Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return `${typeof value} ${value}`;
}

// `cases` has a name and a function in each row.
export function report(cases) {
  for (const [name, call] of cases) {
    let line;
    try {
      line = `${name} => ${show(call())}`;
    } catch (error) {
      line = `${name} throws ${error.name}: ${error.message}`;
    }
    check(1, { [line]: true });
  }
}

// Values of every type, for arguments.
export const values = {
  undefined: undefined,
  null: null,
  integer: 1,
  fraction: 1.5,
  'not a number': NaN,
  'minus zero': -0,
  'true': true,
  text: 'abc',
  empty: '',
  accents: 'héé',
  emoji: '😀 日本',
  'lone surrogate': '\ud800a',
  'zero character': 'a\0b',
  buffer: new Uint8Array([9, 255]).buffer,
  'empty buffer': new ArrayBuffer(0),
  Int8Array: new Int8Array([1, -1]),
  Uint8Array: new Uint8Array([1, 255]),
  Uint8ClampedArray: new Uint8ClampedArray([1, 255]),
  'part of a Uint8Array': new Uint8Array([1, 2, 3, 4]).subarray(1, 3),
  Uint16Array: new Uint16Array([1, 256]),
  Int16Array: new Int16Array(1),
  Uint32Array: new Uint32Array(1),
  Int32Array: new Int32Array(1),
  Float32Array: new Float32Array(1),
  Float64Array: new Float64Array(1),
  BigInt64Array: new BigInt64Array(1),
  BigUint64Array: new BigUint64Array(1),
  DataView: new DataView(new ArrayBuffer(4), 1, 2),
  array: [1, 2],
  'empty array': [],
  'array of bytes': [new Uint8Array([1])],
  object: { a: 1 },
  'object without prototype': Object.create(null),
  Set: new Set([1]),
  Map: new Map([[1, 2]]),
  WeakMap: new WeakMap(),
  Date: new Date(0),
  RegExp: /x/g,
  Error: new Error('x'),
  Promise: Promise.resolve(1),
  Proxy: new Proxy({}, {}),
  'String object': Object('abc'),
  'Number object': Object(3),
  'Boolean object': Object(true),
  'BigInt object': Object(1n),
  symbol: Symbol('x'),
  bigint: 10n,
  function: () => 1,
};
