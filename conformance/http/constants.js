// Constants of k6/http.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const name of Object.keys(http).filter((name) => name === name.toUpperCase()).sort()) check(1, { [`${name} ${http[name]}`]: true });
  check(1, { [`functions ${Object.keys(http).filter((name) => typeof http[name] === 'function').sort()}`]: true });
}
