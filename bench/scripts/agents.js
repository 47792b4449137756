// A VU of each agent makes one request as soon as it may. The server notes when.
import http from 'k6/http';

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: Number(__ENV.AGENTS || 8), iterations: 1 } },
};

export default function () {
  http.get(__ENV.URL);
}
