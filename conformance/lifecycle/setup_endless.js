// setup() that computes for ever.
export const options = { setupTimeout: '500ms' };
export function setup() { for (;;); }
export default function () {}
