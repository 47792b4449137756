// ramping-arrival-rate at a steady rate: the first when the rate has added up to one.
export const options = {
  scenarios: {
    s: { executor: 'ramping-arrival-rate', startRate: 10, preAllocatedVUs: 2, stages: [{ duration: '1050ms', target: 10 }] },
  },
};
export default function () {}
