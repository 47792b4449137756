// A DNS policy that does not exist.
export const options = { dns: { policy: 'fastest' } };
export default function () {}
