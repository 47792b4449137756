// A script that cannot be read.
export default function () { const = 5; }
