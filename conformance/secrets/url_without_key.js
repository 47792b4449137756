// A source that cannot be.
// flags: --secret-source url=urlTemplate=http://h/x

export default function () {}
