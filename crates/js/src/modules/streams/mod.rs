//! `k6/experimental/streams`: readable and writable streams.
//!
//! They are JavaScript, `readable.js` and `writable.js`: a stream is promises and calls of the script's functions, which natives would only
//! pass around. The code is compiled once a process and shared by all VUs of a realm; a VU has the streams it makes.

use std::sync::OnceLock;

use crate::{
    bytecode,
    embed::{Ctx, JsResult},
};

const SOURCES: [&str; 2] = [include_str!("readable.js"), include_str!("writable.js")];

pub(super) fn build(ctx: Ctx) -> JsResult {
    static CODE: [OnceLock<Box<[u8]>>; 2] = [const { OnceLock::new() }; 2];
    let all = ctx.object()?;
    for (source, code) in SOURCES.iter().zip(&CODE) {
        let code = match code.get() {
            Some(code) => code,
            // Two threads may both compile it: the results are the same.
            None => {
                let compiled = bytecode::compile_script(ctx, source, "k6/experimental/streams")?;
                code.get_or_init(|| compiled)
            }
        };
        let exports = bytecode::run(ctx, code)?;
        for name in exports.keys(ctx)? {
            all.define(ctx, &name, exports.get(ctx, &name)?)?;
        }
    }
    Ok(all)
}
