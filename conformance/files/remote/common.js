'use strict';
Object.defineProperty(exports, '__esModule', { value: true });
const b = require('./b.js');
exports.named = `named ${b.b}`;
exports.path = require('/lib/deep.js').deep;
exports.default = 'default of common';
