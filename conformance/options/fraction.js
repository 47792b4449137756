// A number of VUs with a fraction.
export const options = { vus: 1.5, iterations: 4 };
export default function () {}
