// A level of a log file that is none.
// flags: --log-output file=run.log,level=loud
export default function () {}
