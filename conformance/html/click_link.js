// Response.clickLink().
// files: probe.js site.js
import http from 'k6/http';
import { probe } from './probe.js';
import { page } from './site.js';
const base = __ENV.BASE_URL;

export default function () {
  probe(
    () => page('/pages/links').clickLink().request.url,
    () => page('/pages/links').clickLink({}).request.url,
    () => page('/pages/links').clickLink().request.method,
    () => page('/pages/links').clickLink().status,
    () => ['absolute-path', 'relative', 'parent', 'dots', 'query', 'fragment', 'both', 'spaces', 'empty', 'attributes'].map((id) => page('/pages/links').clickLink({ selector: `#${id}` }).request.url),
    () => ['absolute-path', 'relative', 'parent', 'dots', 'query', 'fragment', 'both', 'spaces', 'empty', 'attributes'].map((id) => page('/pages/links').clickLink({ selector: `#${id}` }).url),
    () => page('/pages/links/deep/here').clickLink({ selector: '#relative' }).request.url,
    () => page('/pages/links/deep/here').clickLink({ selector: '#parent' }).request.url,
    () => page('/pages/links?a=1').clickLink({ selector: '#query' }).request.url,
    () => page('/pages/base').clickLink({ selector: '#relative' }).request.url,
    () => page('/pages/links').clickLink({ selector: '#mail' }).error,
    () => page('/pages/links').clickLink({ selector: '#script' }).error,
    () => page('/pages/links').clickLink({ selector: '#none' }).status,
    () => page('/pages/links').clickLink({ selector: '#nothing' }).status,
    () => page('/pages/links').clickLink({ selector: 'h1' }).status,
    () => page('/pages/links').clickLink({ selector: '' }).status,
    () => page('/pages/links').clickLink({ selector: null }).status,
    () => page('/pages/links').clickLink({ selector: undefined }).status,
    () => page('/pages/links').clickLink({ selector: 12 }).status,
    () => page('/pages/links').clickLink({ selector: '!!' }).status,
    () => page('/pages/links').clickLink({ selector: 'li a' }).request.url,
    () => page('/pages/links').clickLink({ selector: 'area' }).request.url,
    () => page('/pages/links').clickLink({ selector: 'link' }).request.url,
    () => page('/pages/links').clickLink('#parent').request.url,
    () => page('/pages/links').clickLink(null).request.url,
    () => page('/pages/links').clickLink({ selector: '#parent', params: { headers: { 'X-Test': 'a' } } }).request.headers['X-Test'],
    () => page('/pages/links').clickLink({ selector: '#parent', params: null }).status,
    () => page('/pages/links', { responseType: 'none' }).clickLink().status,
    () => http.get('http://127.0.0.1:1/').clickLink().status,
  );
}
