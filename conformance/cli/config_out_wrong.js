// An output of the config file that is no text.
// flags: --config config.json
// files: config.json=config_out_wrong.json

export default function () {}
