// Secrets from a service: headers, parts of JSON, statuses, redirects, keys that are paths.
// env: K6_SECRET_SOURCE=url=urlTemplate={BASE_URL}/{key},headers.X-Token=abc,maxRetries=0

import { check } from 'k6';
import secrets from 'k6/secrets';

export const options = { iterations: 1 };

export default async function () {
  for (const key of ['status/200', 'status/204', 'status/404', 'status/500', 'redirect/2', 'get?a=b', 'get?a=b c&d=é', 'headers']) {
    let result;
    try {
      const value = await secrets.get(key);
      const json = value.startsWith('{') ? JSON.parse(value) : {};
      const seen = JSON.stringify([json.args, json.headers && json.headers['X-Token']]);
      result = `${value.length > 0} ${seen.split('').join('-')}`;
    } catch (error) {
      result = `fails`;
    }
    check(1, { [`${key}: ${result}`]: true });
  }
}
