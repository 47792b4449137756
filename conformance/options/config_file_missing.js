// A config file that is not there.
// flags: --config nowhere.json
export default function () {}
