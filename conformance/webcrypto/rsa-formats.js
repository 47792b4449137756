// RSA keys in every format: the same bytes and numbers.
import { check } from 'k6';

const subtle = crypto.subtle;
const hex = (b) => Array.from(new Uint8Array(b), (x) => x.toString(16).padStart(2, '0')).join('');
const note = (name) => check(null, { [name]: () => true });
// What a call gives or how it fails, as the name of a check.
async function say(label, call) {
  try {
    const value = await call();
    note(`${label}: ${value instanceof ArrayBuffer ? hex(value) : typeof value === 'object' ? shown(value) : value}`);
  } catch (e) {
    note(`${label}: ${String(e)}`);
  }
}
const shown = (key) => key.privateKey ? `pair ${shown(key.privateKey)} ${shown(key.publicKey)}` : key.kty ? jwk(key)
  : [key.type, key.extractable, key.algorithm.name, key.algorithm.length, key.algorithm.modulusLength, key.algorithm.namedCurve,
    key.algorithm.hash && key.algorithm.hash.name, key.usages.join('+')].filter((x) => x !== undefined).join(' ');
const jwk = (key) => Object.keys(key).sort().map((k) => `${k}=${Array.isArray(key[k]) ? key[k].join('+') : key[k]}`).join(' ');

const b64 = (text) => { const out = []; let bits = 0, n = 0; const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'; for (const c of text.replace(/=/g, '')) { bits = (bits << 6 | digits.indexOf(c)) & 0xffffff; n += 6; if (n >= 8) { n -= 8; out.push((bits >> n) & 255); } } return new Uint8Array(out); };
// A key made for this test.
const PRIVATE = b64('MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCHO2m1BzlBEiDNe+WegZa9i5FKMDsF6Yd4kmGeXaSQ0ikUohSGqWXKdpbR02' +
  '6XOVmd79Ua//GsgwiYVopCD2JoW5CEsJksCQH4ykWAyT+HIFDMmgF8uS5hibMlmYi5mqvpcThyYs3KFPBq2XP1WemTVFo2ch7YJlklBguA9MkR' +
  'gg25ZLquXK6NrI6h6D4jRAmbMg/nfP1QZTpQX5g6y4RRCUTP1sofNmcWZuyp1F2F3gSp3fw7FA7qwKsPgGKIX+doCD+1Nq5Miv4rxDKk1GXuXP' +
  'didjSDZC2BYIeF9KzzM1bwud/r8+gj1WiKaC6UnrgvufdBjWkVNGFXF1X1NayrAgMBAAECggEAG+VOnfA6iEjECX9IU5Up0jnLI8GlO0f8EQwp' +
  'JPDuNI2VudLhZxHklIo3/FqgEoPbD7BchnBLmymAiWQ4qv3fb+WLf0OqpSHKjVa0Vaet+iLZaAtQyTit76LnGJd+U8MrOUGIwlfNWaVOHsxyli' +
  'cQ/rpEzbxmznHCq9d+YgCcxYaAo6Gy/D+h2X/iQSaczqFfndImv0ldBDaqft2J10QcOuphpSO37of0dUv8w6nMo9enM+bZisU4+LLpVXVwXHqT' +
  'RxRQtMVjcV5IuimKMC86WUB2TgThkXocm2xLbyZvieHgj2w39EogX6S/Vq8e/g7mTpJVHqXzQ0VzCTHdlmeEAQKBgQC+YjIOZ1qB8Hy2aDgURC' +
  'w3G4w2gjrUk00lyH/PdX++MGXHlF3A3gKnKhoELdDvQXgh11tMDscRtE3UySCsCYZ4eqyBc9d+dTis13ICuwh0WRytFqvgLWJLtLRFLWKRjw3h' +
  'Y1gn8SJzXcni6/FLNru84qIbCxO3JT3P0AshaOumAQKBgQC11yAQ2V/eiX+IhZGGgNf23yEOmSkoT6XwB8nOBQ4z3OkqCQUDE6S+LReQOpjBue' +
  '4c7WYpZD45Qt9+MfImmZuI/XZCEcOe+6Csob8fAiQQLM1RPI/hf9f+SdzaOchiZXbIQqnIe4uzfrqDQ0IoGidMBIk83TVRVsrzy3doaNHKqwKB' +
  'gHEFZmX6oVZmaAL5l+EgH4ePiQuLAFXWJIR7pLSKMo27uZBj2cx3f+exLMSyVkjS+vhMGtzqIO+3tETQKd83wGahnOs01Ac0m7KwK/THB9vaUx' +
  'XGUb7B8oqy+hnfOZbj7/+PtHPxyNvoH8PhAdv+4DDf8hBP4SJmr21BOnpZCRwBAoGAPpFU8Tc6a4H4Jet/lT5EESfZYgKFTN+LAzpKz96hcmry' +
  't4n+9X4O03kEgJYI9a+aJM3ytw9M8br2158r6Og1wj8kL7uZCd0e/gdxkaPU8NPZmbgy8a5hjZewrE3xixnKc0Gs1dTcztguKPg9jTrihp+Q8S' +
  'ZUMDajApvh7EUU2p0CgYA1dR5BEGvDjvxyofXmajqyPRF1h8nL3noVR6l0++32WDo6UGGTst/xhQBQFxZJZpGUuHMPh/3aYhq9TGyGnkTHDqcT' +
  'IQITn5JSOnvlhdnKlVEZUDPy2LPLGdze7ypvbi+jLgtdtxQEmEN3PzUraQ8aNwKOLP9JvbPVEg3kioE5vA==');
const PUBLIC = b64('MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAhztptQc5QRIgzXvlnoGWvYuRSjA7BemHeJJhnl2kkNIpFKIUhqllynaW0dNulzlZne' +
  '/VGv/xrIMImFaKQg9iaFuQhLCZLAkB+MpFgMk/hyBQzJoBfLkuYYmzJZmIuZqr6XE4cmLNyhTwatlz9Vnpk1RaNnIe2CZZJQYLgPTJEYINuWS6' +
  'rlyujayOoeg+I0QJmzIP53z9UGU6UF+YOsuEUQlEz9bKHzZnFmbsqdRdhd4Eqd38OxQO6sCrD4BiiF/naAg/tTauTIr+K8QypNRl7lz3YnY0g2' +
  'QtgWCHhfSs8zNW8Lnf6/PoI9VoimgulJ64L7n3QY1pFTRhVxdV9TWsqwIDAQAB');

export default async function () {
  const algorithm = { name: 'RSA-PSS', hash: 'SHA-256' };
  const own = await subtle.importKey('pkcs8', PRIVATE, algorithm, true, ['sign']);
  const theirs = await subtle.importKey('spki', PUBLIC, algorithm, true, ['verify']);
  await say('private', () => own);
  await say('public', () => theirs);
  for (const format of ['pkcs8', 'jwk', 'raw', 'spki', 'x']) await say(format, () => subtle.exportKey(format, own));
  for (const format of ['spki', 'jwk', 'raw', 'pkcs8', 'x']) await say(`public ${format}`, () => subtle.exportKey(format, theirs));
  const json = { ...(await subtle.exportKey('jwk', own)) };
  const again = await subtle.importKey('jwk', json, algorithm, true, ['sign']);
  note(String(hex(await subtle.exportKey('pkcs8', again)) === hex(PRIVATE)));
  await say('pair', () => subtle.exportKey('jwk', { privateKey: own, publicKey: theirs }));
}
