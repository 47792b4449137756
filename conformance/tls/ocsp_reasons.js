// revocation_reason of a stapled OCSP response, all there are and some there are not.
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  for (const reason of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 127]) {
    const { ocsp } = http.get(`https://reason-${reason}.staple.lab.test/`);
    check(ocsp, { [`${reason}: ${JSON.stringify(ocsp)}`]: true });
  }
}
