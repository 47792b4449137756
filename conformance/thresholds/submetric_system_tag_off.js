// A part by a system tag that is off.
export const options = { systemTags: ['group'], thresholds: { 'iterations{scenario:default}': ['count==1'] } };
export default function () {}
