// -i and -u.
// flags: -i 5 -u 2
export default function () {}
