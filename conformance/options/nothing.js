// Without options a script runs once.
export default function () {}
