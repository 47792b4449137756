// All operators, with and without spaces.
import { Counter } from 'k6/metrics';
const orders = new Counter('orders');
export const options = {
  thresholds: { orders: ['count<=3', 'count < 3', 'count>=3', 'count > 3', 'count===3', 'count == 3', 'count!=3', 'count  !=  4'] },
};
export default function () { orders.add(3); }
