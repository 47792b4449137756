// The script wins over the config file.
// flags: --config config.json
// files: config.json=iterations.json
export const options = { iterations: 2, vus: 1 };
export default function () {}
