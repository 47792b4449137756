// An unknown option is only warned of.
export const options = { iterations: 2, itterations: 5 };
export default function () {}
