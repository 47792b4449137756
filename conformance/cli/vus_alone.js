// -u without anything else.
// flags: -u 3
export default function () {}
