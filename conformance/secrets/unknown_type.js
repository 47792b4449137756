// A source that cannot be.
// flags: --secret-source nonsense=a

export default function () {}
