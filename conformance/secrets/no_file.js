// A source that cannot be.
// flags: --secret-source file=nowhere

export default function () {}
