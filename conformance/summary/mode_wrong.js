// A summary mode that does not exist.
// flags: --summary-mode=long
export default function () {}
