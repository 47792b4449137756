// options that are a function.
export function options() { return { iterations: 4 }; }
export default function () {}
