// A negative duration.
export const options = { duration: '-1s' };
export default function () {}
