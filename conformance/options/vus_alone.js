// vus without anything else.
export const options = { vus: 3 };
export default function () {}
