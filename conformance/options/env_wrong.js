// A variable that is no number.
// env: K6_VUS=many
export default function () {}
