// Response.submitForm(): what the button adds.
// files: probe.js
import http from 'k6/http';
import { probe } from './probe.js';
const forms = '<form id=a method=post action=/anything/a><input type=submit name=s></form><form id=b method=post action=/anything/b><input type=submit name=s value></form><form id=c method=post action=/anything/c><button type=submit name=s>text</button></form><form id=d method=post action=/anything/d><input name=s value=1><input type=submit name=s value=2></form><form id=e method=put action=/anything/e><input name=s value=1></form><form id=g method=HEAD action=/anything/g><input name=s value=1></form><form id=i method=post action=http://[><input name=s value=1></form><form id=k method=post action=/anything/k><select name=m multiple></select><keygen name=g><input type=image name=im type=submit></form>';
const page = () => http.post(`${__ENV.BASE_URL}/anything`, forms);
const sent = (options) => {
  const { method, url, body } = page().submitForm(options).request;
  return `${method} ${url} ${body}`;
};
export default function () {
  probe(
    () => sent({ formSelector: '#a' }),
    () => sent({ formSelector: '#b' }),
    () => sent({ formSelector: '#c' }),
    () => sent({ formSelector: '#d' }),
    () => sent({ formSelector: '#d', fields: { s: 3 } }),
    () => sent({ formSelector: '#d', submitSelector: 12 }),
    () => sent({ formSelector: '#d', submitSelector: null }),
    () => sent({ formSelector: '#e' }),
    () => sent({ formSelector: '#g' }),
    () => sent({ formSelector: '#i' }),
    () => sent({ formSelector: '#k' }),
    () => sent({ formSelector: '#a', params: { headers: { 'Content-Type': 'text/plain' } } }),
  );
}
