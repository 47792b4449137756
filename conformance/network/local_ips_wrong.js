// Addresses to connect from that are none.
// flags: --local-ips nonsense
export default function () {}
