// A star in the middle of a blocked host name.
export const options = { blockHostnames: ['a.*.test'] };
export default function () {}
