// A stage without a duration.
// flags: --stage :5
export default function () {}
