// A unit that does not exist.
export const options = { summaryTimeUnit: 'min' };
export default function () {}
