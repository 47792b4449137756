// Response.submitForm().
// files: probe.js site.js
import http from 'k6/http';
import { probe } from './probe.js';
import { page, sent } from './site.js';
const base = __ENV.BASE_URL;

export default function () {
  probe(
    () => sent(page('/pages/forms').submitForm()),
    () => sent(page('/pages/forms').submitForm({})),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#login' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#login', fields: { user: 'me', password: 'p&w', more: 12 } })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#login', submitSelector: '#none' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#login', params: { headers: { 'X-A': 'b' }, tags: { a: 'b' } } })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#every' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#every', submitSelector: '[value="delete"]' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#every', submitSelector: '[value="nothing"]' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#every', submitSelector: '[name="story"]' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#every', submitSelector: 'h1' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#no-method' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#no-method', fields: { kept: 2, b: 'x y' } })),
    () => page('/pages/forms').submitForm({ formSelector: '#no-action' }).request.url,
    () => page('/pages/forms').submitForm({ formSelector: '#relative' }).request.url,
    () => page('/pages/forms').submitForm({ formSelector: '#relative' }).request.body,
    () => sent(page('/pages/forms').submitForm({ formSelector: '#multipart' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#empty' })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#empty', fields: { a: null, b: undefined, c: [1, 2], d: { e: 1 }, f: true, g: 1.5 } })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#plain', fields: { a: null, b: undefined, c: [1, 2], f: true, g: 1.5 } })),
    () => sent(page('/pages/forms').submitForm({ formSelector: '#plain', fields: { q: 'ä ö&' } })),
    () => page('/pages/base').submitForm().request.url,
    () => page('/pages/forms').submitForm({ formSelector: '#none' }).status,
    () => page('/pages/forms').submitForm({ formSelector: '' }).status,
    () => page('/pages/forms').submitForm({ formSelector: null }).request.url,
    () => page('/pages/forms').submitForm({ formSelector: '!!' }).status,
    () => page('/pages/forms').submitForm({ formSelector: 12 }).status,
    () => page('/pages/forms').submitForm({ formSelector: 'h1' }).request.url,
    () => page('/pages/forms').submitForm({ formSelector: 'form' }).request.url,
    () => page('/pages/links').submitForm().status,
    () => page('/pages/forms').submitForm({ formSelector: '#login', fields: null }).request.body,
    () => page('/pages/forms').submitForm({ formSelector: '#login', fields: 'x' }).request.body,
    () => page('/pages/forms').submitForm('#login').request.url,
    () => page('/pages/forms').submitForm(null).request.url,
    () => page('/pages/forms').submitForm({ formSelector: '#login', params: null }).status,
    () => page('/pages/forms').submitForm({ formSelector: '#login', params: { redirects: 0 } }).status,
    () => page('/pages/forms', { responseType: 'none' }).submitForm().status,
    () => http.get('http://127.0.0.1:1/').submitForm().status,
    () => page('/redirect-to?url=/pages/forms').submitForm({ formSelector: '#login' }).request.url,
  );
}
