// No default function.
export function other() {}
