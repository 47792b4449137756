// Own metrics whose names begin like built-in ones, in the summary and its data.
import { Counter, Trend } from 'k6/metrics';
const like = [new Counter('http_reqs_mine'), new Counter('checks_mine'), new Counter('vus_mine'), new Counter('data_mine')];
const slow = new Trend('http_req_waiting_mine');
export default function () { like.forEach((one) => one.add(1)); slow.add(3); }
