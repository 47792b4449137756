export interface Pair { left: number; right: number }
export enum Side { Left = 1, Right }
export const sum = (pair: Pair): number => pair.left + pair.right;
