// Init code that throws in one VU.
export const options = { vus: 3, iterations: 3 };
if (__VU === 2) { throw new Error('not here'); }
export default function () {}
