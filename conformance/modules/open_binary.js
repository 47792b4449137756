// open() as bytes.
// files: data.json
import { check } from 'k6';
const bytes = open('./data.json', 'b');
export default function () { check(bytes, { [`${bytes.constructor.name} ${new Uint8Array(bytes)[0]}`]: true }); }
