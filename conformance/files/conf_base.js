export const name = 'base';
