// externally-controlled has no graceful stop.
export const options = {
  scenarios: { s: { executor: 'externally-controlled', vus: 2, maxVUs: 5, duration: '1s', gracefulStop: '1s' } },
};
export default function () {}
