// setup that is not a function.
export const setup = 5;
export default function () {}
