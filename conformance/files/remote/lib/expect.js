// Assertions that name the line they stand in, found in a stack.
import exec from 'k6/execution';

export class Place {
  constructor(file, line) { this.file = file; this.line = line; }
  static here() {
    const frames = (new Error().stack || '').split('\n').map((line) => line.trim()).filter((line) => line.startsWith('at '));
    if (frames.length < 2) throw new Error('no frames');
    const last = frames[frames.length - 1];
    const found = last.match(/^at (?:(\S+) \()?(\w+:\/\/.*?):(\d+):(\d+)(?:\(\d+\))?\)?$/);
    if (!found) throw new Error(`a frame of another kind: ${last}`);
    return new Place(found[2].split('/').pop(), Number(found[3]));
  }
}

export function expect(value) {
  const judge = (not) => {
    const matcher = (name, test) => (...args) => {
      if (test(...args) !== not) return;
      const place = Place.here();
      const text = `expect(${JSON.stringify(value)}).${not ? 'not.' : ''}${name}(${args.map((arg) => JSON.stringify(arg)).join()}) at ${place.file}:${place.line}`;
      if (expect.isSoft) { expect.failures.push(text); exec.test.fail?.(text); } else { exec.test.abort(text); }
    };
    return {
      toBe: matcher('toBe', (other) => Object.is(value, other)),
      toEqual: matcher('toEqual', (other) => JSON.stringify(value) === JSON.stringify(other)),
      toBeCloseTo: matcher('toBeCloseTo', (other, digits = 2) => Math.abs(value - other) < 10 ** -digits / 2),
      toContain: matcher('toContain', (part) => value.includes(part)),
      toHaveLength: matcher('toHaveLength', (length) => value.length === length),
      toBeTruthy: matcher('toBeTruthy', () => Boolean(value)),
      toBeInstanceOf: matcher('toBeInstanceOf', (type) => value instanceof type),
    };
  };
  return { ...judge(false), not: judge(true) };
}
expect.failures = [];
expect.soft = (value) => { expect.isSoft = true; return expect(value); };
