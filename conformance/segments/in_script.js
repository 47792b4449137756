// A segment in the script.
export const options = {
  executionSegment: '0:1/4', executionSegmentSequence: '0,1/4,1/2,1',
  scenarios: { s: { executor: 'per-vu-iterations', vus: 8 } },
};
export default function () {}
