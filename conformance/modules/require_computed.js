// require() of names that are computed, one in a module that only such a call loads.
// files: conf/dev.js=conf_dev.js conf/base.js=conf_base.js
// env: TARGET=dev
import { check } from 'k6';

const conf = require(`./conf/${__ENV.TARGET}.js`);
const again = require('./' + ['conf', 'dev.js'].join('/'));
let missing = 'found';
try { require(`./conf/${'no' + 'ne'}.js`); } catch (e) { missing = 'missing'; }
export const options = { vus: 2, iterations: 4 };
export default function () { check(1, { [`${conf.name} ${conf.base} ${conf === again} ${missing}`]: true }); }
