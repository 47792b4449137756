// A number without an end.
export const options = { iterations: 1 / 0 };
export default function () {}
