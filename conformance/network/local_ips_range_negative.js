// Addresses to connect from that are none.
// flags: --local-ips 10.0.0.9-10.0.0.1
export default function () {}
