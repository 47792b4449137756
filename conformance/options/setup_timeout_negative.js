// A setup timeout that is not positive.
export const options = { setupTimeout: '0s' };
export function setup() {}
export default function () {}
