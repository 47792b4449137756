// --min-iteration-duration.
// flags: --min-iteration-duration 650ms -d 1s
export default function () {}
