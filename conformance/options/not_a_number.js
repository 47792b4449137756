// A number that is none, as parseInt() makes of a variable that is not set.
export const options = { vus: parseInt(__ENV.NOT_SET), iterations: 2 };
export default function () {}
