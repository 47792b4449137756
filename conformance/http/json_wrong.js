// Response.json() of what is no JSON.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const shown = (call) => { try { return JSON.stringify(call()); } catch (error) { return `throws ${error.message}`; } };
  const bodies = { html: '/html', text: '/f/5', empty: '/f/0' };
  for (const name of Object.keys(bodies)) {
    const r = http.get(`${__ENV.BASE_URL}${bodies[name]}`);
    check(1, { [`${name} ${shown(() => r.json())}`]: true, [`${name} with a path ${shown(() => r.json('a'))}`]: true });
  }
}
