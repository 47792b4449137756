// require() and module.exports.
// files: lib.cjs.js
const { check } = require('k6');
const http = require('k6/http');
const lib = require('./lib.cjs.js');
module.exports.options = { iterations: 2 };
module.exports.default = function () { check(http.get(__ENV.BASE_URL + '/f/1'), { ['answer ' + lib.answer]: (r) => r.status === 200 }); };
