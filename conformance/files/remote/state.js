export const state = { calls: 0 };
export function call() { state.calls += 1; return state.calls; }
