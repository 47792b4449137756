// ramping-arrival-rate from nothing.
export const options = {
  scenarios: { s: { executor: 'ramping-arrival-rate', preAllocatedVUs: 2, stages: [{ duration: '1s', target: 21 }] } },
};
export default function () {}
