// Thresholds on metrics of requests, by status and by name.
import http from 'k6/http';
export const options = {
  thresholds: {
    http_reqs: ['count==3'], http_req_failed: ['rate<0.5'], 'http_reqs{status:200}': ['count==2'], 'http_reqs{name:short}': ['count==1'],
    'http_req_failed{expected_response:false}': ['rate==1'], 'http_req_duration{status:404}': ['max<0'], http_req_duration: ['max<60000'],
  },
};
export default function () {
  http.get(`${__ENV.BASE_URL}/f/1`);
  http.get(`${__ENV.BASE_URL}/f/2`, { tags: { name: 'short' } });
  http.get(`${__ENV.BASE_URL}/status/404`);
}
