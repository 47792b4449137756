// A duration flag needs a unit.
// flags: -d 10
export default function () {}
