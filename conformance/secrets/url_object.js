// A path that leads to an object, and one that leads nowhere.
// env: K6_SECRET_SOURCE=url=urlTemplate={BASE_URL}/get?a={key},responsePath=args,maxRetries=0

import { check } from 'k6';
import secrets from 'k6/secrets';

export const options = { iterations: 1 };

export default async function () {
  let result = 'a value';
  try {
    await secrets.get('b');
  } catch (error) {
    result = 'fails';
  }
  check(1, { [result]: true });
}
