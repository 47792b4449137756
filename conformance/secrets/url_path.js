// What a path leads to in a service's JSON: only texts are secrets.
// env: K6_SECRET_SOURCE=url=urlTemplate={BASE_URL}/get?x=1&y={key},responsePath=args.y,maxRetries=0

import { check } from 'k6';
import secrets from 'k6/secrets';

export const options = { iterations: 1 };

export default async function () {
  for (const key of ['text', 'a%20b']) {
    let result;
    try {
      result = (await secrets.get(key)).split('').join('-');
    } catch (error) {
      result = 'fails';
    }
    check(1, { [`${key}: ${result}`]: true });
  }
}
