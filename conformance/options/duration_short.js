// A duration under a second.
export const options = { duration: '500ms' };
export default function () {}
