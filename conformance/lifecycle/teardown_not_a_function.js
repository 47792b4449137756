// teardown that is not a function.
export const teardown = {};
export default function () {}
