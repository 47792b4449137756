// A request whose address is none makes no samples.
// out: json
import http from 'k6/http';
export default function () { http.get('http://[bad'); http.post('', 'x'); http.get(null); }
