// An output of the config file that does not exist.
// flags: --config config.json
// files: config.json=out_unknown.json
export default function () {}
