// Two sources with names, one of them the default.
// flags: --secret-source mock=default,one=a1,two=b2 --secret-source mock=name=other,one=c3 -i 1

import { check } from 'k6';
import secrets from 'k6/secrets';

export default async function () {
  // What is a secret is hidden in logs, not in names of checks.
  const spell = (value) => value.split('').join('-');
  check(1, { [`one ${spell(await secrets.get('one'))}`]: true, [`two ${spell(await secrets.get('two'))}`]: true });
  const other = await secrets.source('other');
  check(1, { [`other ${spell(await other.get('one'))}`]: true });
  for (const key of ['missing', '']) {
    let failed = false;
    try {
      await secrets.get(key);
    } catch (error) {
      failed = true;
    }
    check(1, { [`'${key}' fails: ${failed}`]: true });
  }
}
