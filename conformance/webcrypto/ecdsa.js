// ECDSA: every curve with every hash function.
import { check } from 'k6';

const subtle = crypto.subtle;
const bytes = (text) => new Uint8Array(Array.from(text, (c) => c.charCodeAt(0)));
const note = (name) => check(null, { [name]: () => true });

export default async function () {
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve }, true, ['sign', 'verify']);
    for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', { name: 'sha-512' }]) {
      const signature = await subtle.sign({ name: 'ECDSA', hash }, pair.privateKey, bytes('message'));
      const verified = await subtle.verify({ name: 'ECDSA', hash }, pair.publicKey, signature, bytes('message'));
      const other = await subtle.verify({ name: 'ECDSA', hash }, pair.publicKey, signature, bytes('other'));
      note(`${namedCurve} ${JSON.stringify(hash)} ${signature.byteLength} ${verified} ${other}`);
    }
  }
}
