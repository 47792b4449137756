// An output that does not exist.
// flags: --out nonsense
export default function () {}
