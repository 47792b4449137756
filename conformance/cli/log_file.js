// --log-output to a file.
// flags: --log-output file=run.log --log-format raw
// written: run.log
export default function () { console.log('hello'); }
