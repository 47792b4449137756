// A switch of the configuration that is neither true nor false.
// env: K6_LINGER=maybe
export default function () {}
