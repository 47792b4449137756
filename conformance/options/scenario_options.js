// The options of a scenario are the browser module's.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', options: { browser: { type: 'chromium' } } } } };
export default function () {}
