// A flag replaces the outputs of the config file.
// flags: --config config.json --out json=/dev/null
// files: config.json=out_unknown.json
export default function () {}
