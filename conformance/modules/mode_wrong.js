// A compatibility mode that does not exist.
// flags: --compatibility-mode es3
export default function () {}
