// --verbose shows debug lines and changes nothing else.
// flags: --verbose
export const options = { iterations: 2 };
export default function () { console.debug('x'); }
