// Response.html().
// files: probe.js site.js
import http from 'k6/http';
import { probe } from './probe.js';
import { page } from './site.js';
const base = __ENV.BASE_URL;

export default function () {
  probe(
    () => page('/pages/forms').html().find('h1').text(),
    () => page('/pages/forms').html('h1').text(),
    () => page('/pages/forms').html('h1'),
    () => page('/pages/forms').html(''),
    () => page('/pages/forms').html('!!'),
    () => page('/pages/forms').html(null),
    () => page('/pages/forms').html(undefined),
    () => page('/pages/forms').html(12),
    () => page('/pages/forms').html({}),
    () => page('/pages/forms').html().url,
    () => page('/pages/forms').html('h1').url,
    () => page('/pages/forms').html().find('h1').url,
    () => page('/pages/forms').html('h1').end(),
    () => page('/pages/forms').html('h1').end().end(),
    () => page('/pages/forms').html().find('h1').first().get(0).selection().url,
    () => page('/pages/forms', { responseType: 'none' }).html(),
    () => page('/pages/forms', { responseType: 'binary' }).html().find('h1').text(),
    () => page('/pages/broken').html().find('body').size(),
    () => page('/json').html().find('body').size(),
    () => page('/encoding/utf8').html('h1').size(),
    () => page('/status/500').html().text(),
    () => http.get('http://127.0.0.1:1/').html(),
    () => (() => { const r = page('/pages/forms'); return r.html().find('h1').get(0).isSameNode(r.html().find('h1').get(0)); })(),
    () => (() => { const r = page('/redirect-to?url=/pages/forms'); return r.html().url; })(),
    () => page('/pages/links').html('#relative').get(0).href(),
    () => page('/pages/links').html('#relative').get(0).pathname(),
    () => page('/pages/links').html('#relative').get(0).host(),
    () => page('/pages/links').html('#query').get(0).search(),
    () => page('/pages/links').html('#whole').get(0).origin(),
    () => page('/pages/links').html('#parent').get(0).pathname(),
    () => page('/pages/links').html('#parent').get(0).protocol(),
    () => page('/pages/links').html('#parent').get(0).toString(),
    () => page('/pages/links').html('#image').get(0).src(),
    () => page('/pages/links').html('link').get(0).href(),
    () => page('/pages/links').html('script').get(0).src(),
    () => page('/pages/forms').html('#login').get(0).action(),
    () => page('/pages/base').html('#relative').get(0).href(),
    () => page('/pages/base').html('base').get(0).href(),
    () => page('/pages/forms').html('#every').serializeObject(),
    () => page('/pages/forms').html('#every').serialize(),
  );
}
