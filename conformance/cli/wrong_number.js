// A number that is none.
// flags: --vus many
export default function () {}
