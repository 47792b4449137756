// The config file of the user's own folder.
// files: .config/k6/config.json=iterations.json
export default function () {}
