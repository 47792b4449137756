// A multipart body put together by the script, as FormData libraries do.
import http from 'k6/http';
import { check } from 'k6';
const bytes = (text) => Uint8Array.from(text.split(''), (c) => c.charCodeAt(0));
const file = http.file(new Uint8Array([65, 66, 67]).buffer, 'a.bin', 'application/x-own');
export default function () {
  const boundary = '------RWWorkerFormDataBoundaryabc';
  const parts = [
    bytes(`--${boundary}\r\nContent-Disposition: form-data; name="text"\r\n\r\nvalue\r\n`),
    bytes(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${file.filename}"\r\nContent-Type: ${file.content_type}\r\n\r\n`),
    new Uint8Array(file.data), bytes(`\r\n--${boundary}--\r\n`),
  ];
  const body = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { body.set(part, at); at += part.length; }
  const r = http.post(`${__ENV.BASE_URL}/post`, body.buffer, { headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } });
  check(r, { [`${r.status} ${JSON.stringify(r.json('form'))} ${r.json('files.file.filename')} ${r.json('files.file.content_type')} ${r.json('files.file.size')}`]: true });
}
