// options that are a text.
export const options = 'fast';
export default function () {}
