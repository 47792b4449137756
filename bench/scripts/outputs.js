// Requests of five names, so that outputs have 50 series and more to tell.
//
// URL    what to request
import http from 'k6/http';

const asks = Array.from({ length: 5 }, (_, n) => ({ tags: { name: `endpoint ${n}` } }));

export default function () {
  http.get(__ENV.URL, asks[__ITER % 5]);
}
