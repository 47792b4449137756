// An empty list of stages runs the script once.
export const options = { stages: [] };
export default function () {}
