#!/bin/sh
# What must be there before cargo can build anything: Rust, a C compiler, the C library's headers.
# Rust is only checked for: which installation a machine uses is its owner's choice. The compiler is
# installed through apt where that is possible; otherwise this says what is missing and what it is for.
set -eu

RUST_MINOR_MIN=95 # rust-version in Cargo.toml

say() { printf '%s\n' "$*" >&2; }

if ! command -v cargo >/dev/null 2>&1; then
    say "error: there is no cargo in PATH. Onrush is written in Rust and needs Rust 1.$RUST_MINOR_MIN or later."
    say "       Install it with rustup (https://rustup.rs) or from your distribution, then run this again."
    exit 1
fi
version=$(cargo --version)
minor=${version#cargo 1.}
minor=${minor%%.*}
case $minor in
'' | *[!0-9]*) ;; # Another major version or a fork: the build will say.
*)
    if [ "$minor" -lt "$RUST_MINOR_MIN" ]; then
        say "error: $version is too old: Onrush needs Rust 1.$RUST_MINOR_MIN or later."
        say "       With rustup: rustup update stable. Then run this again."
        exit 1
    fi
    ;;
esac

# The JavaScript engine, TLS and zstd are C; Rust itself links with the C compiler.
works() {
    printf '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n' | "${CC:-cc}" -x c - -o /dev/null 2>/dev/null
}
if works; then
    exit 0
fi
why="a C compiler with the C library's headers (for the JavaScript engine, TLS and zstd)"
if [ -n "${CC:-}" ]; then
    say "error: CC is set to '$CC', which does not compile a C program. Onrush needs $why."
    exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
    say "error: missing: $why. There is no apt-get here to install it with:"
    say "       install gcc or clang from your distribution, then run this again."
    exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    as_root="sudo -n"
fi
say "Installing gcc and libc6-dev with apt-get: $why."
# The package lists may be missing or old.
if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends gcc libc6-dev >&2; then
    $as_root apt-get update >&2 || true
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends gcc libc6-dev >&2 || true
fi
if ! works; then
    say "error: missing: $why, and apt-get could not install it (see above)."
    say "       As root: apt-get install gcc libc6-dev. Then run this again."
    exit 1
fi
