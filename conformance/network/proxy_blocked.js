// What is blocked is so beside a proxy: its own address counts, and names it resolves do not.
// files: proxied.js
// env: HTTP_PROXY=http://{PROXY}
import http from 'k6/http';
import { show } from './proxied.js';

export const options = { blockHostnames: ['blocked.test'], hosts: { 'static.test': '127.0.0.9' } };

export default function () {
  show('blocked name', http.get('http://blocked.test/ok'));
  show('static name', http.get('http://static.test/ok'));
}
