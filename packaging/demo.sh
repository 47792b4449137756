#!/bin/sh
# demo.sh PROGRAM [FLAGS OF run]: starts the program's own target on a free port, runs examples/demo.js against it, ends
# the target.
set -eu

program=$1
shift
started=$(mktemp)
"$program" target --listen 127.0.0.1:0 > "$started" 2>&1 &
target=$!
trap 'kill $target 2>/dev/null || true; rm -f "$started"' EXIT
# The terminal sends Ctrl+C to the run as well: it ends by itself, with its summary, and we wait for it.
trap : INT TERM

address=
tries=0
while [ -z "$address" ]; do
    address=$(sed -n 's|^target: http://||p' "$started")
    tries=$((tries + 1))
    if [ -z "$address" ]; then
        if [ "$tries" -gt 100 ] || ! kill -0 $target 2>/dev/null; then
            echo "demo: the target did not start:" >&2
            cat "$started" >&2
            exit 1
        fi
        sleep 0.1
    fi
done

echo "\$ onrush target --listen $address &" >&2
echo "\$ onrush run -e TARGET=$address${*:+ $*} examples/demo.js" >&2
"$program" run -e "TARGET=$address" "$@" examples/demo.js
