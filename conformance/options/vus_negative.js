// A negative number of VUs.
export const options = { vus: -1, iterations: 1 };
export default function () {}
