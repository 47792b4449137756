// iterations alone is shared-iterations with one VU.
export const options = { iterations: 7 };
export default function () {}
