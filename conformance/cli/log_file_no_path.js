// --log-output=file without a path.
// flags: --log-output file
export default function () {}
