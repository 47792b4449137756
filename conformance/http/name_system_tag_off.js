// out: json
// Without the system tag `name`, templates name nothing, and tags do.
import http from 'k6/http';
export const options = { systemTags: ['url', 'status'] };
export default function () {
  http.get(http.url`${__ENV.BASE_URL}/get?${1}`);
  http.get(http.url`${__ENV.BASE_URL}/redirect/${1}`);
  http.get(`${__ENV.BASE_URL}/get`, { tags: { name: 'own' } });
}
