// open() of a file that is not there.
open('./nowhere.txt');
export default function () {}
