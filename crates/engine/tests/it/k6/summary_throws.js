export default function () { console.log('run'); }
export function handleSummary() { throw new Error('no summary'); }
