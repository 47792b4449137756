// A number in quotes where a number must be.
export const options = { vus: '2', iterations: '4' };
export default function () {}
