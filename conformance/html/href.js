// AnchorElement and AreaElement: parts of the address.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const text = `<a id=a href="https://us%65r:pa%20ss@example.com:8080/a/b%20c?q=1&r=%C3%A9#frag">  text <b>bold</b></a><a id=b href="/rel/../x?y#z" rel="nofollow  noopener" target=_blank type=text/html download=f hreflang=en accesskey=k referrerpolicy=origin>x</a><a id=c>none</a><a id=d href="">empty</a><a id=e href="http://exa mple">bad</a><a id=f href="mailto:a@b.c">m</a><a id=g href="//host/p">s</a><a id=h href="HTTP://HOST:80/">H</a><a id=i href="https://h:443">I</a><a id=j href="https://[::1]:9/x">J</a><a id=k href="?q=1">K</a><a id=l href="#f">L</a><a id=m href="http://u@h/">M</a><a id=n href="javascript:void(0)">N</a><a id=o href="ftp://h:21/x">O</a><map name=m><area id=ar href="http://area.test/p?x=1" alt=al target=t rel=r></map>`;
const $ = (selector) => parseHTML(text).find(selector);
const one = (selector) => $(selector).get(0);
export default function () {
  probe(
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).hash()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).host()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).hostname()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).href()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).origin()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).username()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).password()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).pathname()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).port()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).protocol()),
    () => ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'ar'].map((id) => one(`#${id}`).search()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).text()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).rel()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).relList()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).target()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).type()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).download()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).hrefLang()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).accessKey()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).referrerPolicy()),
    () => ['a', 'b', 'c', 'ar'].map((id) => one(`#${id}`).toString()),
  );
}
