// --summary-time-unit that does not exist.
// flags: --summary-time-unit min
export default function () {}
