// An asynchronous handleSummary().
// written: out.txt
export default function () {}
export async function handleSummary() { return { 'out.txt': 'later' }; }
