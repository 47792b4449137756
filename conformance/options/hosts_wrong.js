// A host that maps to no address.
export const options = { hosts: { 'a.test': 'not an address' } };
export default function () {}
