// A fraction of an arrival goes on into the next stage; a stage of no length changes the rate at once.
export const options = {
  scenarios: {
    s: {
      executor: 'ramping-arrival-rate', startRate: 5, preAllocatedVUs: 2,
      stages: [{ duration: '500ms', target: 5 }, { duration: '0s', target: 30 }, { duration: '450ms', target: 30 }, { duration: '300ms', target: 0 }],
    },
  },
};
export default function () {}
