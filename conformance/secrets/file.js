// A file of secrets.
// flags: --secret-source file=data.txt -i 1
// files: data.txt=secrets.txt

import { check } from 'k6';
import secrets from 'k6/secrets';

export default async function () {
  for (const key of ['plain', 'spaces', 'equals', ' led', '#hash', 'empty']) {
    let value;
    try {
      value = await secrets.get(key);
    } catch (error) {
      value = 'none';
    }
    check(1, { [`${key}: ${JSON.stringify(value.split(''))}`]: true });
  }
}
