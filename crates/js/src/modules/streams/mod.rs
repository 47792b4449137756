//! `k6/experimental/streams`: readable streams.
//!
//! They are JavaScript, `readable.js`: a stream is promises and calls of the script's functions, which natives would only
//! pass around. The code is compiled once a process and shared by all VUs of a realm; a VU has the streams it makes.

use std::sync::OnceLock;

use crate::{
    bytecode,
    embed::{Ctx, JsResult},
};

const SOURCE: &str = include_str!("readable.js");

pub(super) fn build(ctx: Ctx) -> JsResult {
    static CODE: OnceLock<Box<[u8]>> = OnceLock::new();
    let code = match CODE.get() {
        Some(code) => code,
        // Two threads may both compile it: the results are the same.
        None => {
            let compiled = bytecode::compile_script(ctx, SOURCE, "k6/experimental/streams")?;
            CODE.get_or_init(|| compiled)
        }
    };
    bytecode::run(ctx, code)
}
