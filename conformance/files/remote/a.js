export const a = 'a';
export default function name() { return 'default of a'; }
