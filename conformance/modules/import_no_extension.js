// No endings are guessed.
// files: numbers.js
import './numbers';
export default function () {}
