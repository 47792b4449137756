// Addresses to connect from that are none.
// flags: --local-ips 10.0.0.1-x
export default function () {}
