// Values of setup() that are no plain data: what iterations get of them.
import { check } from 'k6';

class Own {
  constructor() {
    this.kept = 1;
  }
  method() {}
  get computed() {
    return 2;
  }
}

export function setup() {
  return {
    map: new Map([['a', 1]]),
    set: new Set([1, 'b']),
    bytes: new Uint8Array([1, 2, 255]),
    words: new Uint16Array([1, 300]),
    buffer: new ArrayBuffer(2),
    big: 10n,
    symbol: Symbol('word'),
    date: new Date(1500),
    list: [undefined, , null],
    own: new Own(),
    error: new Error('text'),
    pattern: /a/,
    inherited: Object.create({ a: 1 }),
    zero: -0,
    tiny: 1e-7,
    huge: 1e21,
  };
}

export default function (data) {
  for (const [name, value] of Object.entries(data)) {
    check(1, { [`${name} ${JSON.stringify(value)}`]: true });
  }
}
