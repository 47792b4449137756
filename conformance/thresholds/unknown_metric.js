// A threshold on a metric nobody declares.
export const options = { thresholds: { nonsense: ['count>0'] } };
export default function () {}
