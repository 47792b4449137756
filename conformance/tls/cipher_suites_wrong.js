// A cipher suite that does not exist.
export const options = { tlsCipherSuites: ['TLS_NONE'] };
export default function () {}
