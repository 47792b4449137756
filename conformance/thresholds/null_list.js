// A metric's thresholds may be null, which is none.
export const options = { thresholds: { http_reqs: null, iterations: ['count==1'] } };
export default function () {}
