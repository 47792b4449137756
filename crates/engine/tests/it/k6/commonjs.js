const http = require('k6/http'); const { check, sleep } = require('k6'); const lib = require('./lib.cjs.js'); const metrics = require('k6/metrics');
exports.options = { iterations: 1 };
exports.setup = function () { return 'data'; };
if (__VU === 1) console.log(typeof http.get, typeof check, lib.answer, lib.twice(4), typeof metrics.Counter, typeof require('k6').sleep);
if (__VU === 1) console.log(this === module.exports, typeof exports, this === exports, require('./lib.cjs.js') === lib);
if (__VU === 0) for (const bad of ['lodash', '', 'http://x/y.js']) try { require(bad); } catch (e) { console.log(String(e).split('\n')[0].replace(/file:\/\/\/[^"]*\//g, 'DIR/').slice(0, 80)); }
if (__VU === 1) try { implicit = 5; } catch (e) { console.log(e.name, e.message); }
exports.default = function (data) { console.log(data, lib.twice(21)); try { require('./lib.cjs.js'); console.log('again'); } catch (e) { console.log('late'); } };
