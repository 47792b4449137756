// handleSummary() writes files; text and bytes.
// written: out.txt bytes.txt
export default function () {}
export function handleSummary() {
  return { 'out.txt': 'some text', 'bytes.txt': new Uint8Array([104, 105]).buffer };
}
