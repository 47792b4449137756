// Thresholds as objects, with unknown fields.
export const options = {
  iterations: 2,
  thresholds: { iterations: [{ threshold: 'count==2' }, { threshold: 'count>2', abortOnFail: false, delayAbortEval: '10s' }] },
};
export default function () {}
