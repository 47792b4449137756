// A tag whose value is a number.
export const options = { tags: { build: 7 } };
export default function () {}
