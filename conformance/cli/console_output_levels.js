// --console-output has all that the script says, and nothing else.
// flags: --console-output said.log --log-format raw
// written: said.log
export default function () { console.log('info'); console.debug('debug'); console.error('error'); throw new Error('not there'); }
