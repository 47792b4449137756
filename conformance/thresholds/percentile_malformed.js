// A percentile without its number.
export const options = { thresholds: { iteration_duration: ['p()<1000'] } };
export default function () {}
