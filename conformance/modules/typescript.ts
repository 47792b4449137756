// TypeScript: types, enums, interfaces, generics.
import { check } from 'k6';
import { Counter } from 'k6/metrics';
enum Kind { One = 1, Two }
interface Thing { kind: Kind; name?: string }
const counter: Counter = new Counter('my_counter');
export const options = { iterations: 2 as number };
function first<T>(list: T[]): T | undefined { return list[0]; }
class Box<T> { constructor(private readonly value: T) {} get(): T { return this.value; } }
export default function (): void {
  const thing: Thing = { kind: Kind.Two };
  counter.add(thing.kind);
  check(thing, { [`kind ${Kind[thing.kind]} ${first([7])} ${new Box('x').get()}`]: (t: Thing) => t.name === undefined });
}
