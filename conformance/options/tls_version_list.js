// TLS versions are no list.
export const options = { tlsVersion: [] };
export default function () {}
