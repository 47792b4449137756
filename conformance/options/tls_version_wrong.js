// A TLS version that does not exist.
export const options = { tlsVersion: 'tls9' };
export default function () {}
