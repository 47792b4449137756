// SSLKEYLOGFILE that cannot be written.
// env: SSLKEYLOGFILE=nowhere/keys.log
import { check } from 'k6';
export default function () {
  check(1, { ran: true });
}
