// A sequence of one point.
// flags: --execution-segment-sequence 1
export default function () {}
