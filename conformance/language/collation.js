// The order of strings for people.
// env: TZ=UTC
// written: out.txt
const cases = [
  String.raw`['b', 'a', 'C', 'A', 'ä', 'z', 'Z', 'ö', '_', '1', '10', '2', ' ', '-'].sort((x, y) => x.localeCompare(y))`,
  String.raw`['zebra', 'Ärger', 'apfel', 'Zoo', 'öl', 'Apfel'].sort((x, y) => x.localeCompare(y))`,
  String.raw`['item 10', 'item 9', 'Item 1', 'item-2'].sort((x, y) => x.localeCompare(y))`,
  String.raw`'a'.localeCompare('B')`,
  String.raw`'a'.localeCompare('a')`,
  String.raw`'A'.localeCompare('a')`,
  String.raw`'résumé'.localeCompare('resume')`,
  String.raw`'a\u0301'.localeCompare('á')`,
  String.raw`'ß'.localeCompare('ss')`,
  String.raw`'日'.localeCompare('本')`,
  String.raw`'😀'.localeCompare('a')`,
  String.raw`''.localeCompare('a')`,
  String.raw`'null'.localeCompare(null)`,
  String.raw`'undefined'.localeCompare()`,
  String.raw`'a'.localeCompare('b', 'de', { sensitivity: 'base' })`,
  String.raw`String.prototype.localeCompare.call(5, 10)`,
  String.raw`String.prototype.localeCompare.call(null, 'a')`,
  String.raw`['b', 'a', 'C', 'A', 'ä'].sort()`,
];

function show(value) {
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

export default function () {}

export function handleSummary() {
  const lines = cases.map((expression) => {
    try {
      return `${expression}  =>  ${show((0, eval)(expression))}`;
    } catch (error) {
      return `${expression}  throws  ${error.name}`;
    }
  });
  return { 'out.txt': lines.join('\n') };
}
