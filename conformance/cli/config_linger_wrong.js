// A switch of the config file that is none.
// flags: --config config.json
// files: config.json=config_linger_wrong.json

export default function () {}
