// An output to a folder that is not there.
// flags: --out json=nowhere/at/all.json
export default function () {}
