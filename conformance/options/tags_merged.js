// The tags of a higher tier replace those of a lower one.
// flags: --tag c=3
// out: json
export const options = { tags: { a: '1', b: '2' } };
export default function () {}
