export default function () { console.log('run'); }
export function teardown() { throw new Error('no teardown'); }
