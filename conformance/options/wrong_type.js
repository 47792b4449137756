// A text where a number must be.
export const options = { vus: 'three', iterations: 3 };
export default function () {}
