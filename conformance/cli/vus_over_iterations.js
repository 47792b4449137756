// -u over iterations of the script.
// flags: -u 3
export const options = { iterations: 6 };
export default function () {}
