// Where handleSummary() runs: no VU, no data of iterations.
// written: out.txt
let runs = 0;
export default function () { runs += 1; }
export function handleSummary() { return { 'out.txt': `${runs} ${__VU}` }; }
