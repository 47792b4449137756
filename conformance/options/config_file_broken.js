// A config file that is no JSON.
// flags: --config config.json
// files: config.json=broken.json
export default function () {}
