const library = require('./lib.cjs.js');
export const answer = library.answer;
export const later = () => require('./lib.cjs.js').twice(4);
