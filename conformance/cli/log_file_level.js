// --log-output to a file with a level, appended to what is there.
// flags: --log-output file=run.log,level=warning --log-format raw
// written: run.log
export default function () { console.log('info'); console.debug('debug'); console.warn('warning'); console.error('two\nlines'); }
