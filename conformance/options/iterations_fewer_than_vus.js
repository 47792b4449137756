// Fewer iterations than VUs are refused.
export const options = { iterations: 2, vus: 3 };
export default function () {}
