// The same for one that changes nothing here.
// env: K6_NO_USAGE_REPORT=maybe
export default function () {}
