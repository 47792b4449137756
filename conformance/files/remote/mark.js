export const mark = 'mark';
