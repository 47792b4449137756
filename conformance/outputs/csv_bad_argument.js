// An argument of csv that does not exist.
// flags: --out csv=nonsense=1
export default function () {}
