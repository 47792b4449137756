// Shortcuts that exclude each other.
// flags: -i 5 --stage 1s:1
export default function () {}
