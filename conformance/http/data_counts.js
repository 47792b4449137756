// data_sent and data_received are the bytes on the wire.
// written: counts.json
import http from 'k6/http';
export const options = { userAgent: 'agent/1', iterations: 2 };
export default function () {
  http.get(`${__ENV.BASE_URL}/f/1000`);
  http.post(`${__ENV.BASE_URL}/upload`, 'x'.repeat(3000));
  http.get(`${__ENV.BASE_URL}/f/100`, { responseType: 'none' });
}
export function handleSummary({ metrics }) { return { 'counts.json': JSON.stringify([metrics.data_sent.values.count, metrics.data_received.values.count]) }; }
