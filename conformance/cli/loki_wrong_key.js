// A key of loki that is none.
// flags: --log-output loki=http://127.0.0.1:1/push,foo=1
export default function () {}
