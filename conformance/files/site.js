// Pages of the target, and what it says it was sent.
import http from 'k6/http';
export const page = (path, params) => http.get(`${__ENV.BASE_URL}${path}`, params);
// Without what differs between runs.
export const sent = (response) => {
  const { method, args, form, data, url } = response.json();
  return { method, args, form, data, url, type: response.request.headers['Content-Type'], body: response.request.body, name: response.request.url };
};
