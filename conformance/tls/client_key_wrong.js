// tlsAuth with a key that is none.
export const options = { tlsAuth: [{ domains: ['client.lab.test'], cert: __ENV.CLIENT_CERT, key: 'no key' }] };
export default function () {}
