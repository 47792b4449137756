// Somebody who uses pages instead of an API: reads a form, fills it in and
// submits it, then follows a link. What a page says is found with selectors.
//
//   onrush target &
//   onrush run examples/forms.js
//
// BASE_URL   the system under test (default http://127.0.0.1:8080)
import http from 'k6/http';
import { check } from 'k6';
import { parseHTML } from 'k6/html';

export const options = { vus: 2, iterations: 10, thresholds: { checks: ['rate==1'] } };

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export default function () {
  const page = http.get(`${BASE_URL}/pages/forms`);
  const form = page.html('#login');
  check(form, {
    'the form is there': (f) => f.size() === 1,
    'and posts': (f) => f.attr('method') === 'post',
    'with a token': (f) => f.find('input[type=hidden]').val() === 't0ken',
  });

  // The token and the button are sent along with what is filled in.
  const answer = page.submitForm({ formSelector: '#login', fields: { user: 'me', password: 'secret' } });
  check(answer, {
    'all of it arrived': (r) =>
      r.json('form.user') === 'me' && r.json('form.token') === 't0ken' && r.json('form.go') === 'in',
  });

  const links = http.get(`${BASE_URL}/pages/links`);
  const names = links.html('#links a[href^="/"]').map((index, link) => link.attr('id'));
  check(names, { 'links are found': (n) => n.includes('absolute-path') });
  const next = links.clickLink({ selector: '#parent' });
  check(next, { 'the link led on': (r) => r.status === 200 && r.url === `${BASE_URL}/anything/parent` });

  const total = parseHTML('<ul><li data-price="3">a</li><li data-price="4.5">b</li></ul>')
    .find('li')
    .toArray()
    .reduce((sum, item) => sum + item.data('price'), 0);
  check(total, { 'prices are numbers': (sum) => sum === 7.5 });
}
