import http from 'k6/http';
import { check, sleep } from 'k6';

// Where the system under test is: onrush run -e BASE_URL=http://... {{ .ScriptName }}
const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 10,
  duration: '30s',
{{- if .ProjectID }}
  cloud: { projectID: {{ .ProjectID }} },
{{- end }}
};

export default function () {
  const res = http.get(BASE_URL);
  check(res, { 'status is 200': (r) => r.status === 200 });
  sleep(1);
}
