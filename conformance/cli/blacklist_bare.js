// --blacklist-ip needs a network.
// flags: --blacklist-ip 10.0.0.1
export default function () {}
