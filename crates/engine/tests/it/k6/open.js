const text = open('data.txt'); const again = open('./data.txt');
if (__VU === 0) for (const bad of ['', 'nope.txt', '/', null, undefined]) try { open(bad); console.log('fine'); } catch (e) { console.log(String(e).replace(/"[^"]*\//g, '"DIR/')); }
const bytes = open('data.txt', 'b'); console.log(typeof text, text === again, bytes instanceof ArrayBuffer, bytes.byteLength, open('data.txt', 'x').length, open('data.txt', 'rb').length);
export default function () {
  console.log(JSON.stringify(text));
  try { open('data.txt'); } catch (e) { console.log(String(e)); }
}
