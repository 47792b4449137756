// Without an encoding the iteration fails.
import crypto from 'k6/crypto';

export default function () {
  crypto.sha256('a');
}
