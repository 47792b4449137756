// K6_OUT.
// env: K6_OUT=json=named.json
// written: none.txt
export default function () {}
