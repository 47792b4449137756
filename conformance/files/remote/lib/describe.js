// Chained assertions that become checks, in groups.
const k6 = require('k6');

class AssertionError extends Error {}

function assertion(value) {
  let not = false;
  const that = {
    get to() { return that; },
    get be() { return that; },
    get not() { not = !not; return that; },
    equal(other, name = `expected ${JSON.stringify(value)} ${not ? 'not ' : ''}to equal ${JSON.stringify(other)}`) {
      const ok = (value === other) !== not;
      k6.check(null, { [name]: ok });
      if (!ok) throw new AssertionError(name);
      return that;
    },
    above(limit) { return that.is(value > limit, `expected ${value} ${not ? 'not ' : ''}to be above ${limit}`); },
    is(holds, name) {
      const ok = holds !== not;
      k6.check(null, { [name]: ok });
      if (!ok) throw new AssertionError(name);
      return that;
    },
    validJsonBody() {
      let ok = true;
      try { value.json(); } catch { ok = false; }
      return that.is(ok, `${value.url.split('/').pop()} has a JSON body`);
    },
  };
  return that;
}

exports.expect = assertion;
exports.describe = function describe(name, body) {
  let ok = true;
  k6.group(name, () => {
    try {
      body();
    } catch (error) {
      ok = false;
      if (!(error instanceof AssertionError)) k6.check(null, { [`exception ${error.name}`]: false });
    }
  });
  return ok;
};
