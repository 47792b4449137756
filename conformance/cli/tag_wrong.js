// A tag without a value.
// flags: --tag name
export default function () {}
