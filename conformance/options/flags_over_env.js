// Flags win over variables, which win over the script.
// flags: --iterations 4
// env: K6_ITERATIONS=3 K6_VUS=2
export const options = { iterations: 2 };
export default function () {}
