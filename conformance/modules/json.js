// open() and JSON.
// files: data.json
import { check } from 'k6';
const data = JSON.parse(open('./data.json'));
export default function () { check(data, { [`users ${data.users.length} ${data.users[0].name}`]: true }); }
