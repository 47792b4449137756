// Init code that throws.
throw new Error('no');
export default function () {}
