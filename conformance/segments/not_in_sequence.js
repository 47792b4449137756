// A segment that its sequence does not have.
// flags: --execution-segment 0:1/3 --execution-segment-sequence 0,1/2,1
export default function () {}
