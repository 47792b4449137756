// A segment that ends after the whole.
// flags: --execution-segment 1/2:3/2
export default function () {}
