import { browser } from 'k6/browser';
import { check } from 'k6';

// Where the system under test is: k6 run -e BASE_URL=http://... {{ .ScriptName }}
const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    ui: {
      executor: 'shared-iterations',
      vus: 1,
      iterations: 1,
      options: { browser: { type: 'chromium' } },
    },
  },
  thresholds: { checks: ['rate==1.0'] },
{{- if .ProjectID }}
  cloud: { projectID: {{ .ProjectID }} },
{{- end }}
};

export default async function () {
  const page = await browser.newPage();
  try {
    const response = await page.goto(BASE_URL);
    check(response, { 'status is 200': (r) => r.status() === 200 });
  } finally {
    await page.close();
  }
}
