import { a } from '{MODULES}/a.js';
export const absolute = a;
