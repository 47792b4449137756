// Thresholds of the script replace those of the config file as a whole.
// flags: --config config.json
// files: config.json=thresholds.json
export const options = { thresholds: { iteration_duration: ['avg<60000'] } };
export default function () {}
