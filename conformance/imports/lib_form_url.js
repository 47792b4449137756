// Libraries in the shape of form-urlencoded and url: UMD, and classes for what engines lack.
// imports
import { check } from 'k6';
import form from '{MODULES}/lib/form.js';
import { URL, URLSearchParams } from '{MODULES}/lib/url.js';
const url = new URL('https://h:8443/a/b?x=1&y=a%20b#z');
url.searchParams.append('n', 'ü');
const params = new URLSearchParams('a=1&a=2&b=');
export default function () { check(1, { [`${form({ a: 'x y', b: [1, { c: "it's" }] })} ${url} ${url.host} ${url.searchParams.get('y')} ${params.getAll('a')} ${params}`]: true }); }
