import { check } from 'k6';
enum Color { Red = 1, Green }
interface Shape { area(): number; }
class Square implements Shape { constructor(private readonly side: number) {} area(): number { return this.side ** 2; } }
namespace Util { export const double = (n: number): number => n * 2; }
type Pair<T> = [T, T];
const pair: Pair<number> = [1, 2];
abstract class Base { abstract name: string; hello(this: Base) { return `hi ${this.name}`; } }
class Derived extends Base { name = 'derived'; declare other?: string; }
export default function (): void {
  console.log(Color.Green, Color[1], new Square(3).area(), Util.double(4), pair!.length, (pair as unknown as number[])[1], new Derived().hello(), Object.keys(new Derived()).join());
  check<number>(1, { ok: (v: number): boolean => v === 1 });
  const x = { a: { b: 1 } } satisfies object; console.log(x?.a?.b ?? 0);
  throw new Error(`typed ${Color.Red}`);
}
