// A default export that is not a function.
export default 5;
