// A stage that cannot be read.
// flags: --stage fast
export default function () {}
