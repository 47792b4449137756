// ext and cloud are accepted and ignored.
export const options = { iterations: 2, ext: { loadimpact: { projectID: 1 } }, cloud: { name: 'x' } };
export default function () {}
