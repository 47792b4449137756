// constant-arrival-rate: the first at once, then one each 105 ms.
export const options = {
  scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, timeUnit: '1050ms', duration: '1s', preAllocatedVUs: 2 } },
};
export default function () {}
