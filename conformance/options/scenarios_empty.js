// An empty map of scenarios runs the script once.
export const options = { scenarios: {} };
export default function () {}
