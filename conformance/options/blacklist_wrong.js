// A blacklisted address that is none.
export const options = { blacklistIPs: ['300.0.0.0/8'] };
export default function () {}
