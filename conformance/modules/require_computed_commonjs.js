// require() of a computed name in a CommonJS script.
// files: conf/dev.js=conf_dev.js conf/base.js=conf_base.js
const { check } = require('k6');
const conf = require('./conf/' + (__ENV.TARGET || 'dev') + '.js');
exports.default = function () { check(1, { [conf.name + conf.base]: true }); };
