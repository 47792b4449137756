// Outputs and other settings of the config file.
// flags: --config config.json
// files: config.json=settings.json
export default function () {}
