// --no-color is told to handleSummary().
// flags: --no-color
export default function () {}
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }
