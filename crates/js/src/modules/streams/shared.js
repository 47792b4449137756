// What readable and writable streams have in common. As readable.js, it runs once a realm; the others get what it returns.
(function () {
  'use strict';

  const nothing = () => {};
  const one = () => 1;
  const handled = (promise) => (promise.then(undefined, nothing), promise);
  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

  function deferred() {
    const made = {};
    made.promise = new Promise((resolve, reject) => {
      made.resolve = resolve;
      made.reject = reject;
    });
    return made;
  }

  // A promise of what a method of the script's returns; what it throws is a rejection.
  function callOf(object, method, args) {
    if (method === undefined) {
      return Promise.resolve(undefined);
    }
    try {
      const result = Reflect.apply(method, object, args);
      return new Promise((resolve) => resolve(result));
    } catch (error) {
      return handled(Promise.reject(error));
    }
  }

  // `complaint` is said of a strategy that is no object.
  function strategyOf(strategy, complaint) {
    if (strategy === undefined || strategy === null) {
      return { size: one, highWaterMark: 1 };
    }
    if (!isObject(strategy)) {
      throw new TypeError(complaint);
    }
    const size = strategy.size ?? one;
    if (typeof size !== 'function') {
      throw new TypeError('size must be a function');
    }
    const highWaterMark = strategy.highWaterMark ?? 1;
    if (typeof highWaterMark !== 'number' || !(highWaterMark >= 0)) {
      throw new RangeError('highWaterMark must be a non-negative number');
    }
    return { size, highWaterMark };
  }

  return { nothing, one, handled, isObject, deferred, callOf, strategyOf };
})();
