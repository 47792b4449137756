import { Counter } from 'k6/metrics';
export const counted = new Counter('counted_remotely');
