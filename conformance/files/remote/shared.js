import { SharedArray } from 'k6/data';
export const list = new SharedArray('remote list', () => [1, 2, 3]);
