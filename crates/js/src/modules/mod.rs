//! The built-in modules scripts import: one file or folder each.
//!
//! A module is a function that builds its default export in a realm. Every member of that object is also a named
//! export, as in k6. In the dense layout the objects are shared by all VUs of a thread, so natives find the VU that
//! calls through `vu::context` and keep no state in their objects: a module's state is a type of its own in the slots of
//! the VU, thread or realm ([`crate::slots`]), objects with a Rust value are a [`crate::embed::HostObject`], and fields
//! that are dear to make are its `LAZY` ones. A new module is a file and a row of `MODULES`.
#![expect(unsafe_code, reason = "QuickJS C modules")]

mod bytes;
mod crypto;
mod csv;
mod data;
mod dns;
mod encoding;
mod execution;
mod export;
pub(crate) mod extension;
mod faker;
mod fs;
mod go;
pub(crate) mod grpc;
mod handlers;
mod html;
pub(crate) mod http;
mod k6;
#[cfg(feature = "kafka")]
mod kafka;
mod metrics;
mod mqtt;
mod own_metrics;
mod promise;
mod redis;
mod secrets;
mod sql;
mod sse;
mod streams;
mod tag_value;
mod tcp;
mod text_error;
mod timers;
mod webcrypto;
mod websocket;
mod x509;

pub(crate) use own_metrics::declare_early;

use std::{cell::RefCell, ffi::CString};

use onrush_quickjs_sys as sys;

use self::export::export;
use crate::{
    embed::{Ctx, JsResult, Throw, Val, guarded},
    realm::Realm,
    vu::modules::cjs,
};

/// A built-in module.
struct Module {
    /// What scripts import.
    name: &'static str,
    /// Registers the classes of its objects in a realm.
    install_classes: fn(Ctx) -> JsResult<()>,
    /// Builds its default export in a realm.
    build: fn(Ctx) -> JsResult,
    /// Whether a function replaced in the default export is replaced for those who import it by name as well. k6: it is
    /// for the modules that were written with a default export only.
    is_patchable: bool,
    /// Makes what it keeps in a realm, where VUs share that; else it is made at first use.
    share: fn(&Realm) -> JsResult<()>,
    /// Modules whose objects it hands out.
    needs: &'static [&'static str],
}

impl Module {
    /// A module with nothing but its default export.
    const fn new(name: &'static str, build: fn(Ctx) -> JsResult) -> Self {
        Self { name, install_classes: |_| Ok(()), build, is_patchable: false, share: |_| Ok(()), needs: &[] }
    }
}

/// Response bodies and messages can be streams.
const STREAMS: &str = "k6/experimental/streams";

const MODULES: &[Module] = &[
    Module::new("k6", k6::build),
    Module { install_classes: crypto::install_classes, ..Module::new("k6/crypto", crypto::build) },
    Module::new("k6/crypto/x509", x509::build),
    Module { install_classes: data::install_classes, ..Module::new("k6/data", data::build) },
    Module::new("k6/encoding", encoding::build),
    Module { install_classes: execution::install_classes, ..Module::new("k6/execution", execution::build) },
    Module { install_classes: csv::install_classes, ..Module::new("k6/experimental/csv", csv::build) },
    Module { install_classes: fs::install_classes, ..Module::new("k6/experimental/fs", fs::build) },
    Module::new("k6/experimental/redis", redis::build),
    Module::new(STREAMS, streams::build),
    Module { install_classes: webcrypto::install, ..Module::new("k6/experimental/webcrypto", webcrypto::build) },
    Module::new("k6/x/dns", dns::build),
    Module { install_classes: faker::install_classes, ..Module::new("k6/x/faker", faker::build) },
    #[cfg(feature = "kafka")]
    Module { install_classes: kafka::install_classes, ..Module::new("k6/x/kafka", kafka::build) },
    Module { install_classes: mqtt::install_classes, ..Module::new("k6/x/mqtt", mqtt::build) },
    Module { install_classes: redis::install_classes, ..Module::new("k6/x/redis", redis::build) },
    Module { install_classes: sql::install_classes, ..Module::new("k6/x/sql", sql::build) },
    Module::new("k6/x/sql/driver/mysql", sql::build_mysql),
    Module::new("k6/x/sql/driver/postgres", sql::build_postgres),
    Module::new("k6/x/sql/driver/sqlite3", sql::build_sqlite),
    Module { install_classes: sse::install_classes, ..Module::new("k6/x/sse", sse::build) },
    Module { install_classes: tcp::install_classes, ..Module::new("k6/x/tcp", tcp::build) },
    Module { share: html::share, is_patchable: true, ..Module::new("k6/html", html::build) },
    Module {
        install_classes: http::install_classes,
        is_patchable: true,
        needs: &[STREAMS],
        ..Module::new("k6/http", http::build)
    },
    Module { install_classes: metrics::install_classes, ..Module::new("k6/metrics", metrics::build) },
    Module { install_classes: secrets::install_classes, ..Module::new("k6/secrets", secrets::build) },
    Module { install_classes: grpc::install_classes, ..Module::new("k6/net/grpc", grpc::build) },
    Module { is_patchable: true, ..Module::new("k6/timers", timers::build) },
    Module {
        install_classes: websocket::install_classes,
        needs: &[STREAMS],
        ..Module::new("k6/websockets", websocket::build)
    },
    Module { needs: &[STREAMS], ..Module::new("k6/experimental/websockets", websocket::build) },
    Module { install_classes: websocket::install_legacy_classes, ..Module::new("k6/ws", websocket::build_legacy) },
];

/// Names of the modules this version provides.
pub const BUILTIN_MODULES: &[&str] = &{
    let mut names = [""; MODULES.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = MODULES[index].name;
        index += 1;
    }
    names
};

/// The module behind the ES modules that are generated for CommonJS modules and extensions; scripts cannot name it.
pub(crate) const CJS_MODULE: &str = "onrush:cjs";

/// Registers the host classes of all modules in a realm.
pub(crate) fn install_classes(ctx: Ctx) -> JsResult<()> {
    text_error::install_class(ctx)?;
    MODULES.iter().try_for_each(|module| (module.install_classes)(ctx))
}

/// Makes what the modules keep in a realm that VUs are about to share.
pub(crate) fn share_classes(realm: &Realm) -> JsResult<()> {
    MODULES.iter().try_for_each(|module| (module.share)(realm))
}

/// The modules whose objects a module hands out.
pub(crate) fn needs(name: &str) -> &'static [&'static str] {
    MODULES.iter().find(|module| module.name == name).map_or(&[], |module| module.needs)
}

/// The module of that name. The loader refuses unknown names before anything runs; an error is for names computed at run
/// time.
fn module(name: &str) -> JsResult<&'static Module> {
    const CJS: &Module = &Module::new(CJS_MODULE, build_cjs);
    if name == CJS_MODULE {
        return Ok(CJS);
    }
    MODULES
        .iter()
        .find(|module| module.name == name)
        .ok_or_else(|| Throw::error(format!("the module \"{name}\" is not available in this version of Onrush")))
}

fn build_cjs(ctx: Ctx) -> JsResult {
    let exports = ctx.object()?;
    export(ctx, &exports, "cjs", 1, cjs)?;
    export(ctx, &exports, "extension", 1, extension::exports)?;
    Ok(exports)
}

thread_local! {
    /// Exports on their way into a module that is being evaluated.
    static PENDING: RefCell<Vec<(CString, Val)>> = const { RefCell::new(Vec::new()) };
}

/// Creates and evaluates a built-in module in a realm.
pub(crate) fn create(ctx: Ctx, name: &str) -> JsResult<*mut sys::JSModuleDef> {
    let module = module(name)?;
    let default = (module.build)(ctx)?;
    let mut exports = Vec::new();
    // A driver of `k6/x/sql` is a symbol.
    let keys = if default.is_object() { default.keys(ctx)? } else { Vec::new() };
    for key in keys {
        let name = CString::new(key.text(ctx)?).map_err(|_| Throw::error("export name holds a NUL character"))?;
        exports.push((name, default.get(ctx, &key)?));
    }
    exports.push((c"default".to_owned(), default.clone()));
    let c_name = CString::new(name).map_err(|_| Throw::error("module name holds a NUL character"))?;
    // SAFETY: names outlive the calls; the record lives as long as the realm.
    unsafe {
        let record = sys::JS_NewCModule(ctx.raw(), c_name.as_ptr(), fill_exports);
        if record.is_null() {
            return Err(Throw::Pending);
        }
        for (name, _) in &exports {
            if sys::JS_AddModuleExport(ctx.raw(), record, name.as_ptr()) < 0 {
                return Err(Throw::Pending);
            }
        }
        PENDING.set(exports);
        let result = Val::checked(sys::onrush_module_evaluate(ctx.raw(), record));
        PENDING.take();
        result?;
        if module.is_patchable && sys::onrush_module_link_exports(ctx.raw(), record, default.raw()) < 0 {
            return Err(Throw::Pending);
        }
        Ok(record)
    }
}

unsafe extern "C" fn fill_exports(ctx: *mut sys::JSContext, record: *mut sys::JSModuleDef) -> i32 {
    // SAFETY: QuickJS passes a live context.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    guarded(ctx, -1, || {
        for (name, value) in PENDING.take() {
            // SAFETY: QuickJS passes the record `create` is evaluating; ownership of the value moves into it.
            if unsafe { sys::JS_SetModuleExport(ctx.raw(), record, name.as_ptr(), value.into_raw()) } < 0 {
                return Err(Throw::Pending);
            }
        }
        Ok(0)
    })
}
