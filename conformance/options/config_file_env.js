// A config file named by a variable.
// env: K6_CONFIG=config.json
// files: config.json=iterations.json
export default function () {}
