// maxVUs under preAllocatedVUs.
export const options = {
  scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 5, maxVUs: 2 } },
};
export default function () {}
