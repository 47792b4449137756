// Keys of data(): words that Go writes in capitals.
import { check } from 'k6';
import { parseHTML } from 'k6/html';
const WORDS =
  'acl api ascii cpu css dns eof guid html http https id ip json lhs os qps ram rhs rpc sla smtp sql ssh tcp tls ttl ' +
  'udp ui uid uri url utf8 uuid vm xml xmpp xsrf xss ids js db ws two-words';
export default function () {
  for (const word of WORDS.split(' ')) {
    const div = parseHTML(`<div data-${word}=1 data-x-${word}-y=2></div>`).find('div');
    check(1, { [Object.keys(div.data()).sort().join(' ')]: true });
  }
  const div = parseHTML('<div data-test-id=1 data-api-url-x=2></div>').find('div');
  for (const key of ['test-id', 'testId', 'testID', 'apiURLX', 'apiUrlX', 'none']) {
    check(1, { [`${key} ${div.data(key)}`]: true });
  }
}
