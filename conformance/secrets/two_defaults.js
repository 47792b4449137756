// A source that cannot be.
// flags: --secret-source mock=default,a=1 --secret-source mock=default,name=b,a=2

export default function () {}
