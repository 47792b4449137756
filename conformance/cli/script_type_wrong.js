// --type that does not exist.
// flags: --type python
export default function () {}
