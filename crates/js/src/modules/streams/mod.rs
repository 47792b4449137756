//! `k6/experimental/streams`: readable and writable streams, and the class of response bodies that are read as they arrive.
//!
//! They are JavaScript, `readable.js` and `writable.js`: a stream is promises and calls of the script's functions, which natives would only
//! pass around. The code is compiled once a process and shared by all VUs of a realm; a VU has the streams it makes.

use std::sync::OnceLock;

use crate::{
    bytecode,
    embed::{Ctx, Handle, JsResult},
    realm::Realm,
};

/// Scripts whose value is a function that gets what `shared.js` returns, and returns exports.
const SOURCES: [&str; 2] = [include_str!("readable.js"), include_str!("writable.js")];
/// A class that is no export: it is kept beside them.
const RESPONSE_BODY: &str = "ResponseBody";

pub(super) fn build(ctx: Ctx) -> JsResult {
    static SHARED: OnceLock<Box<[u8]>> = OnceLock::new();
    static CODE: [OnceLock<Box<[u8]>>; 2] = [const { OnceLock::new() }; 2];
    let shared = run(ctx, include_str!("shared.js"), &SHARED)?;
    let all = ctx.object()?;
    for (source, code) in SOURCES.iter().zip(&CODE) {
        let make = run(ctx, source, code)?;
        let exports = ctx.call(&make, Handle::UNDEFINED, &[&shared])?;
        for name in exports.keys(ctx)? {
            let value = exports.get(ctx, &name)?;
            if name.text(ctx)? == RESPONSE_BODY {
                all.define_hidden(ctx, RESPONSE_BODY, value)?;
            } else {
                all.define(ctx, &name, value)?;
            }
        }
    }
    Ok(all)
}

fn run(ctx: Ctx, source: &str, code: &OnceLock<Box<[u8]>>) -> JsResult {
    let code = match code.get() {
        Some(code) => code,
        // Two threads may both compile it: the results are the same.
        None => {
            let compiled = bytecode::compile_script(ctx, source, "k6/experimental/streams")?;
            code.get_or_init(|| compiled)
        }
    };
    bytecode::run(ctx, code)
}

/// A stream over an underlying source.
pub(super) fn readable(ctx: Ctx, realm: &Realm, source: &Handle) -> JsResult {
    make(ctx, realm, "ReadableStream", source)
}

/// A response's body, which a native source reads; `readable.js` says what that has.
pub(super) fn response_body(ctx: Ctx, realm: &Realm, source: &Handle) -> JsResult {
    make(ctx, realm, RESPONSE_BODY, source)
}

fn make(ctx: Ctx, realm: &Realm, class: &str, source: &Handle) -> JsResult {
    let class = realm.native_exports("k6/experimental/streams")?.get(ctx, class)?;
    ctx.call(&class, Handle::UNDEFINED, &[source])
}
