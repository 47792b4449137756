// A module in a folder: open() in its own body, and in a function that others call.
export const own = JSON.parse(open('./data.json'));
export const read = (path) => open(path);
