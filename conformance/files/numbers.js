export default 'numbers';
export const one = 1;
export const two = 2;
export const counter = { value: 0 };
