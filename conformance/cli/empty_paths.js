// Empty paths are none.
// flags: -q --console-output= --out=
// written: stdout
export default function () { console.log('not on stdout'); }
export function handleSummary() { return { stdout: 'all' }; }
