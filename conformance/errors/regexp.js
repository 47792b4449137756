// A regular expression that cannot be read.
import { check } from 'k6';
export default function () { try { new RegExp('('); } catch (error) { check(error, { [error.name]: (error) => error instanceof SyntaxError }); } }
