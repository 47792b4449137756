// Attributes with a closed set of values.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const each = (values, markup, read) => values.split(' ').map((value) => read(parseHTML(markup.replace('V', value)).find('#a').get(0)));
const policies = 'no-referrer no-referrer-when-downgrade origin origin-when-cross-origin same-origin strict-origin strict-origin-when-cross-origin unsafe-url ORIGIN x';
const types = 'application/x-www-form-urlencoded multipart/form-data text/plain MULTIPART/FORM-DATA x';
export default function () {
  probe(
    () => each(policies, '<a id=a referrerpolicy=V>', (e) => e.referrerPolicy()),
    () => each(policies, '<img id=a referrerpolicy=V>', (e) => e.referrerPolicy()),
    () => each(policies, '<iframe id=a referrerpolicy=V>', (e) => e.referrerPolicy()),
    () => each(policies, '<link id=a referrerpolicy=V>', (e) => e.referrerPolicy()),
    () => each('anonymous use-credentials ANONYMOUS x', '<img id=a crossorigin=V>', (e) => e.crossOrigin()),
    () => each('anonymous use-credentials ANONYMOUS x', '<video id=a crossorigin=V>', (e) => e.crossOrigin()),
    () => each('anonymous use-credentials ANONYMOUS x', '<link id=a crossorigin=V>', (e) => e.crossOrigin()),
    () => each('anonymous use-credentials ANONYMOUS x', '<script id=a crossorigin=V></script>', (e) => e.crossOrigin()),
    () => each('submit button menu reset SUBMIT x', '<button id=a type=V>', (e) => e.type()),
    () => each('get post GET POST put dialog x', '<button id=a formmethod=V>', (e) => e.formMethod()),
    () => each('get post GET POST put dialog x', '<form id=a method=V>', (e) => e.method()),
    () => each('get post GET POST put dialog x', '<form method=V><input id=a>', (e) => e.formMethod()),
    () => each(types, '<form id=a enctype=V>', (e) => e.enctype()),
    () => each(types, '<form id=a enctype=V>', (e) => e.encoding()),
    () => each(types, '<button id=a formenctype=V>', (e) => e.formEnctype()),
    () => each(types, '<form enctype=V><button id=a>', (e) => e.formEnctype()),
    () => each('on off ON x', '<form id=a autocomplete=V>', (e) => e.autocomplete()),
    () => each('on off ON x email', '<input id=a autocomplete=V>', (e) => e.autocomplete()),
    () => each('on off ON x', '<textarea id=a autocomplete=V>', (e) => e.autocomplete()),
    () => each('none off characters words sentences WORDS x', '<textarea id=a autocapitalize=V>', (e) => e.autocapitalize()),
    () => each('hard soft off HARD x', '<textarea id=a wrap=V>', (e) => e.wrap()),
    () => each('RSA DSA EC rsa x', '<keygen id=a keytype=V>', (e) => e.keytype()),
    () => each('content-type default-style refresh content-security-policy x-ua-compatible REFRESH x', '<meta id=a http-equiv=V>', (e) => e.httpEquiv()),
    () => each('none metadata auto NONE x', '<audio id=a preload=V>', (e) => e.preload()),
    () => each('subtitle subtitles captions descriptions chapters metadata x', '<video><track id=a kind=V>', (e) => e.kind()),
    () => each('row col rowgroup colgroup auto x', '<table><tr><th id=a scope=V>', (e) => e.scope()),
    () => each('1 a A i I x', '<ol id=a type=V>', (e) => e.type()),
    () => each('1 a A i I disc x', '<li id=a type=V>', (e) => e.type()),
    () => each('circle disc square x', '<ul id=a type=V>', (e) => e.type()),
    () => each('text/css x', '<style id=a type=V></style>', (e) => e.type()),
    () => each('button checkbox color date datetime datetime-local email file hidden image month number password radio range reset search submit tel text time url week TEXT x', '<input id=a type=V>', (e) => e.type()),
    () => each('toggle command x', '<object id=a type=V>', (e) => e.type()),
  );
}
