export const options = { vus: 2, iterations: 2, noTeardown: true };
export function setup() { console.log('setup', __VU); return 0; }
export default function (data) { console.log(data === 0, typeof data, arguments.length); return 5; }
export function teardown() { console.log('not run'); }
