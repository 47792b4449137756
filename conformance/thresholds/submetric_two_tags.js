// A part by two tags; spaces and quotes around them do not count.
import { Counter } from 'k6/metrics';
const orders = new Counter('orders');
export const options = { thresholds: { 'orders{a:1,b:2}': ['count==3'], 'orders{ "a" : "1" }': ['count==4'] } };
export default function () { orders.add(3, { a: '1', b: '2' }); orders.add(1, { a: '1' }); }
