export function setup() { throw new Error('no setup'); }
export default function () { console.log('not run'); }
export function teardown() { console.log('not run'); }
