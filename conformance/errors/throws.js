// An iteration that throws is complete, and the test goes on.
// out: json
export const options = { iterations: 3 };
export default function () { throw new Error('no'); }
