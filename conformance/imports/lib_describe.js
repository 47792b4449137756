// A library in the shape of k6chaijs: assertions become checks in groups, failures end the block.
// imports
import { check } from 'k6';
import http from 'k6/http';
import { describe, expect } from '{MODULES}/lib/describe.js';
export default function () {
  const fine = describe('fine', () => {
    expect(1).to.equal(1);
    expect(3).to.be.above(2);
    expect(1).to.not.equal(2, 'named');
    expect(http.get(`${__ENV.BASE_URL}/get`)).to.be.validJsonBody();
  });
  const failed = describe('failed', () => {
    expect('a').to.equal('b');
    expect(1).to.equal(1, 'never reached');
  });
  const thrown = describe('thrown', () => { throw new RangeError('x'); });
  check(1, { [`${fine} ${failed} ${thrown}`]: true });
}
