// Variables win over the script.
// env: K6_ITERATIONS=3 K6_VUS=2
export const options = { iterations: 5, vus: 5 };
export default function () {}
