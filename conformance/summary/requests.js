// handleSummary() may make requests; they count nowhere.
// written: out.txt
import http from 'k6/http';
export default function () {}
export function handleSummary() { return { 'out.txt': String(http.get(`${__ENV.BASE_URL}/f/3`).status) }; }
