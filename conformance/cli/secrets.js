// --secret-source and k6/secrets.
// flags: --secret-source mock=key=value
import secrets from 'k6/secrets';
import { check } from 'k6';
export default async function () { const value = await secrets.get('key'); check(value, { 'it is there': (value) => value === 'value' }); }
