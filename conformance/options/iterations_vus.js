// iterations and vus: the iterations are shared.
export const options = { iterations: 7, vus: 3 };
export default function () {}
