// A tag with an empty value.
// flags: --tag name=
export default function () {}
