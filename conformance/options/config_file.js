// A config file is the lowest tier.
// flags: --config config.json
// files: config.json=iterations.json
export default function () {}
