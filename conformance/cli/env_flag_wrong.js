// A variable whose name cannot be one.
// flags: -e 1A=x
export default function () {}
