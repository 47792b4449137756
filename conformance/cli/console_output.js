// --console-output takes the lines of console.
// flags: --console-output console.txt --log-format raw
// written: console.txt
export default function () { console.log('one'); console.warn('two'); }
