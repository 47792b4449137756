// Both aggregations of a counter.
import { Counter } from 'k6/metrics';
const orders = new Counter('orders');
export const options = { iterations: 3, thresholds: { orders: ['count==6', 'count>6', 'rate>0', 'rate>1e12'] } };
export default function () { orders.add(2); }
