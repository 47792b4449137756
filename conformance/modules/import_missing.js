// A module that is not there.
import './nowhere.js';
export default function () {}
