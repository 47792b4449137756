import http from 'k6/http';
const base = `http://${__ENV.TARGET}`;
const text = open('./data.txt');
const binary = open('data.txt', 'b');
export default function () {
  console.log(text.length, binary.byteLength, new Uint8Array(binary)[0]);
  const f = http.file(text, 'name.txt', 'text/plain'); console.log(JSON.stringify(f), Object.keys(f).sort().join());
  const g = http.file(binary); console.log(/^\d+$/.test(g.filename), g.content_type, g.data.byteLength);
  const r = http.post(`${base}/post`, { field: 'value', file: f });
  const j = r.json(); console.log(r.status, JSON.stringify(j.form), j.files.file.size, j.files.file.filename, j.files.file.content_type, /^multipart\/form-data; boundary=[0-9a-f]{60}$/.test(j.headers['Content-Type']));
  const r2 = http.post(`${base}/post`, { b: http.file(binary, 'a"b.bin'), n: 5, t: true });
  console.log(r2.status, JSON.stringify(r2.json('form.n')), JSON.stringify(r2.json('files.b.size')), r2.json('files.b.filename'));
  console.log(r2.request.body.includes('name="b"; filename="a\\"b.bin"'), r2.request.body.includes('Content-Type: application/octet-stream'));
  const r3 = http.post(`${base}/upload`, { f: http.file('abc', 'f') }, { headers: { 'Content-Type': 'text/plain' } });
  console.log(r3.status, r3.request.headers['Content-Type'].join());
}
