// A counter has no average.
import { Counter } from 'k6/metrics';
const orders = new Counter('orders');
export const options = { thresholds: { orders: ['avg>0'] } };
export default function () { orders.add(10); }
