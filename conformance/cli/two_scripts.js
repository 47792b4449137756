// Two scripts.
// flags: other.js
export default function () {}
