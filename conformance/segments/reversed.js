// A segment that ends before it begins.
// flags: --execution-segment 1/2:1/4
export default function () {}
