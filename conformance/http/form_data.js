// Multipart bodies as a FormData class in script code makes them.
// files: data.json
import http from 'k6/http';
import { check } from 'k6';

const bytesOf = (text) => new Uint8Array(unescape(encodeURIComponent(text)).split('').map((letter) => letter.charCodeAt(0)));

class FormData {
  constructor() {
    this.boundary = '------FormBoundary' + 'x'.repeat(16);
    this.parts = [];
  }
  append(name, value, filename) {
    const file = value && value.data !== undefined ? value : null;
    const data = file ? file.data : value;
    const head = `Content-Disposition: form-data; name="${name}"` + (file ? `; filename="${filename || file.filename}"\r\nContent-Type: ${file.content_type}` : '');
    this.parts.push({ head, data: typeof data === 'string' ? bytesOf(data) : new Uint8Array(data) });
  }
  contentType() {
    return `multipart/form-data; boundary=${this.boundary}`;
  }
  body() {
    const pieces = [];
    for (const part of this.parts) {
      pieces.push(bytesOf(`--${this.boundary}\r\n${part.head}\r\n\r\n`), part.data, bytesOf('\r\n'));
    }
    pieces.push(bytesOf(`--${this.boundary}--\r\n`));
    const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole.buffer;
  }
}

const opened = open('./data.json', 'b');

export default function () {
  const form = new FormData();
  form.append('field', 'välue');
  form.append('text', http.file('some text', 'a.txt', 'text/plain'));
  form.append('file', http.file(opened, 'data.json', 'application/json'));
  form.append('bytes', http.file(new Uint8Array([1, 2, 3]).buffer, 'b.bin'));
  const res = http.post(`${__ENV.BASE_URL}/post`, form.body(), { headers: { 'Content-Type': form.contentType() } });
  check(res, { [`${res.status} ${JSON.stringify(res.json('form'))} ${JSON.stringify(Object.keys(res.json('files')).sort())}`]: true });
  const file = http.file(opened);
  check(file, {
    [`defaults ${Object.keys(file)} ${/^\d{19}$/.test(file.filename)} ${file.content_type} ${typeof file.data}`]: true,
    [`request ${res.request.body.length}`]: true,
  });
}
