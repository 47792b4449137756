export function fail() {
  throw new TypeError('no such luck');
}
