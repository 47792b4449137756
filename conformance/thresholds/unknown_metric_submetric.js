// A threshold on a part of a metric nobody declares.
export const options = { thresholds: { 'nonsense{a:b}': ['count>0'] } };
export default function () {}
