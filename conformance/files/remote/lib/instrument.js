// Replaces the functions of k6/http for all modules, so that each request carries a header.
const http = require('k6/http');
const exec = require('k6/execution');

exports.instrument = function (name, value) {
  for (const method of ['get', 'post', 'put', 'del', 'patch', 'options', 'head', 'request', 'asyncRequest']) {
    const original = http[method];
    const at = { get: 1, head: 1, request: 3, asyncRequest: 3 }[method] ?? 2;
    http[method] = function (...args) {
      while (args.length <= at) args.push(null);
      const params = args[at] || {};
      args[at] = { ...params, headers: { ...params.headers, [name]: [value] } };
      exec.vu.metrics.metadata.trace_id = `${name}-1`;
      const response = original.apply(http, args);
      delete exec.vu.metrics.metadata.trace_id;
      return response;
    };
  }
};
