export const double = (n: number): number => n * 2;
export type Pair = [number, number];
