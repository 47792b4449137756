const base = require('./' + ['base', 'js'].join('.'));
exports.name = 'dev';
exports.base = base.name;
