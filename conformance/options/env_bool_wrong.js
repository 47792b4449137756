// A variable that is no boolean.
// env: K6_NO_SETUP=perhaps
export default function () {}
