import lib from './lib.cjs.js';
import { answer, twice } from './lib.cjs.js';
import * as all from './lib.cjs.js';
import k6, { check } from 'k6';
import * as k6all from 'k6';
import http, { get } from 'k6/http';
import * as httpall from 'k6/http';
export default function () {
  console.log(answer, twice(3), lib.answer, all.answer, typeof check, typeof k6all.check, typeof get, typeof httpall.get, typeof k6.check);
  console.log(Object.keys(k6).sort().join(), Object.keys(http).sort().join());
  console.log(typeof import.meta, typeof import.meta.resolve, import.meta.resolve('./lib.cjs.js').endsWith('/lib.cjs.js'));
}
