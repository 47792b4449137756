// The config file names an output and options.
// flags: --config config.json
// files: config.json=config_out.json

import { check } from 'k6';

export default function () {
  check(options.tags, { [JSON.stringify(options.tags)]: true });
}
