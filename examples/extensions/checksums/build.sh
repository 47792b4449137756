#!/bin/sh
# Makes checksums.wasm. It needs Rust with its WebAssembly target: rustup target add wasm32-unknown-unknown
set -e
cd "$(dirname "$0")"
rustc --edition 2024 --target wasm32-unknown-unknown --crate-type cdylib \
  -C opt-level=3 -C panic=abort -C lto -C strip=symbols -C link-arg=-zstack-size=32768 \
  -o "${1:-checksums.wasm}" checksums.rs
