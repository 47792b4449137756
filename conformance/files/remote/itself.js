import * as me from './itself.js';
export const a = 1;
export const names = () => Object.keys(me).sort().join();
