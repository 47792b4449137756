// A duration that cannot be read.
export const options = { duration: '1 minute' };
export default function () {}
