// A setting of the config file with the wrong type.
// flags: --config config.json
// files: config.json=linger_wrong.json
export default function () {}
