// A check of a promise.
import { check } from 'k6';
export default async function () {
  const promised = Promise.resolve(0);
  check(promised, { 'a promise is true': promised, 'awaited is not': await promised });
}
