// null is as good as not given.
export const options = { vus: null, iterations: 2, duration: null, tags: null, thresholds: null };
export default function () {}
