// Flags with an empty text are as none.
// flags: --tag '' --summary-mode '' --type '' --compatibility-mode '' --console-output '' --local-ips '' --env '' --out ''
export default function () {}
