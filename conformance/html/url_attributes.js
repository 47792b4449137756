// Attributes that are addresses, in a page that has one of its own.
// files: probe.js
import http from 'k6/http';
import { probe } from './probe.js';
// The page is what the server says it was sent: markup inside of JSON.
const markup = '<a id=a href=x?y#z></a><a id=a0></a><a id=a1 href></a><a id=a2 href=http://[></a><area id=ar href=x><base id=b href=x><link id=l href=x><img id=i src=x><script id=s src=x></script><iframe id=if src=x></iframe><embed id=e src=x><audio id=au src=x></audio><video><source id=so src=x><track id=t src=x></video><input id=in src=x formaction=y><form id=f action=x></form><form id=f0></form><form id=f1 action></form><form action=w><input id=in2><button id=bt formaction=x></button></form><object id=o data=x></object><q id=q cite=x></q><del id=d cite=x></del><img id=i0><script id=s0></script>';
const page = () => http.post(`${__ENV.BASE_URL}/anything/some/where`, markup).html();
const one = (id) => page().find(`#${id}`).get(0);
export default function () {
  probe(
    () => page().url,
    () => ['a', 'a0', 'a1', 'a2', 'ar', 'b', 'l'].map((id) => one(id).href()),
    () => ['a', 'a0', 'a1', 'a2', 'ar'].map((id) => one(id).toString()),
    () => ['a', 'a0', 'a1', 'a2', 'ar'].map((id) => one(id).pathname()),
    () => ['a', 'a0', 'a1', 'a2', 'ar'].map((id) => one(id).host()),
    () => ['a', 'a0', 'a1', 'a2', 'ar'].map((id) => one(id).hostname()),
    () => ['a', 'a0', 'a1', 'a2', 'ar'].map((id) => one(id).protocol()),
    () => ['a', 'a0', 'a1', 'a2', 'ar'].map((id) => one(id).origin()),
    () => ['a', 'a0', 'a1', 'a2', 'ar'].map((id) => one(id).search()),
    () => ['a', 'a0', 'a1', 'a2', 'ar'].map((id) => one(id).hash()),
    () => ['i', 's', 'if', 'e', 'au', 'so', 't', 'in', 'i0', 's0'].map((id) => one(id).src()),
    () => ['i', 'au'].map((id) => one(id).currentSrc()),
    () => ['f', 'f0', 'f1'].map((id) => one(id).action()),
    () => ['in', 'in2', 'bt'].map((id) => one(id).formAction()),
    () => one('o').data(),
    () => one('d').cite(),
    () => page().find('#a').attr('href'),
    () => one('a').getAttribute('href'),
  );
}
