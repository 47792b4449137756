// options are computed by init code.
// env: COUNT=3
const count = Number(__ENV.COUNT);
export const options = { iterations: count, vus: count };
export default function () {}
