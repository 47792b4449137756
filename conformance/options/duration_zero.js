// A duration of nothing.
export const options = { duration: '0s' };
export default function () {}
