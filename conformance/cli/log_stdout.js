// --log-output=stdout.
// flags: -q --summary-mode disabled --log-output stdout --log-format raw
// written: stdout
export default function () { console.log('a', { b: [1, null, undefined, 'c'] }); console.warn('w'); }
