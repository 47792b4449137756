// require() of modules on a server.
// imports
const { check } = require('k6');
const a = require('{MODULES}/a.js');
const common = require('{MODULES}/common.js');
exports.default = function () { check(1, { [`${a.a} ${a.default()} ${common.named} ${common.default}`]: true }); };
