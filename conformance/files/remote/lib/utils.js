// A bundle as webpack makes them: CommonJS, the global object by way of Function.
(function (modules) {
  const cache = {};
  function load(id) {
    if (cache[id]) return cache[id].exports;
    const module = (cache[id] = { i: id, l: false, exports: {} });
    modules[id].call(module.exports, module, module.exports, load);
    module.l = true;
    return module.exports;
  }
  load.d = (exports, name, getter) => Object.defineProperty(exports, name, { enumerable: true, get: getter });
  module.exports = load(0);
})([
  function (module, exports, load) {
    'use strict';
    Object.defineProperty(exports, '__esModule', { value: true });
    const metrics = load(1), execution = load(2), root = load(3);
    const checks = new metrics.Rate('checks');
    exports.root = typeof root.parseInt;
    exports.randomIntBetween = (min, max) => Math.floor(Math.random() * (max - min + 1) + min);
    exports.randomItem = (list) => list[Math.floor(Math.random() * list.length)];
    exports.randomString = (length, from = 'abc') => Array.from({ length }, () => exports.randomItem(from)).join('');
    exports.uuidv4 = () => 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (c) => {
      const r = (Math.random() * 16) | 0;
      return (c === 'x' ? r : (r & 0x3) | 0x8).toString(16);
    });
    exports.findBetween = (text, left, right, repeat = false) => {
      const found = [];
      let from = 0;
      for (;;) {
        const start = text.indexOf(left, from);
        if (start < 0) break;
        const end = text.indexOf(right, start + left.length);
        if (end < 0) break;
        found.push(text.slice(start + left.length, end));
        if (!repeat) return found[0];
        from = end + right.length;
      }
      return repeat ? found : null;
    };
    exports.parseDuration = (text) => {
      const units = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1 };
      let sum = 0;
      for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|d|h|m|s)/g)) sum += number * units[unit];
      return sum;
    };
    exports.check = (value, sets) => {
      let ok = true;
      for (const name of Object.keys(sets)) {
        const passed = Boolean(typeof sets[name] === 'function' ? sets[name](value) : sets[name]);
        checks.add(passed, { check: name });
        ok = ok && passed;
      }
      return ok;
    };
    exports.getCurrentStageIndex = () => {
      const { default: exec } = execution;
      const scenario = exec.test.options.scenarios[exec.scenario.name];
      const spent = new Date() - exec.scenario.startTime;
      let end = 0;
      for (let i = 0; i < scenario.stages.length; i += 1) {
        end += exports.parseDuration(scenario.stages[i].duration);
        if (spent < end) return i;
      }
      return scenario.stages.length - 1;
    };
    exports.tagWithCurrentStageIndex = () => {
      execution.default.vu.tags.stage = exports.getCurrentStageIndex();
    };
  },
  function (module) { module.exports = require('k6/metrics'); },
  function (module) { const exec = require('k6/execution'); module.exports = { default: exec.default || exec }; },
  function (module) {
    let g = (function () { return this; })();
    try { g = g || new Function('return this')(); } catch (e) { g = globalThis; }
    module.exports = g;
  },
]);
