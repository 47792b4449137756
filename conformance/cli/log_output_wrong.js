// A log output that does not exist.
// flags: --log-output nowhere
export default function () {}
