// A flag that does not exist.
// flags: --nonsense
export default function () {}
