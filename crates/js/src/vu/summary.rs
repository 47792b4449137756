//! `handleSummary(data)`.

use super::{ScriptFailure, Vu, VuPhase, context};
use crate::embed::{JsResult, Throw, Val};

/// One entry of what `handleSummary` returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandleSummaryFile {
    /// A path, or `stdout` / `stderr`.
    pub path: String,
    /// What to write.
    pub content: Vec<u8>,
}

impl Vu {
    /// Calls `handleSummary` with `data` (JSON text). `None` means: print the built-in text instead.
    pub fn handle_summary(&self, data: &str) -> Result<Option<Vec<HandleSummaryFile>>, ScriptFailure> {
        self.phase.set(VuPhase::Lifecycle);
        context::begin_call(self);
        self.call_handle_summary(data).map_err(|throw| ScriptFailure::from_throw(self, throw))
    }

    fn call_handle_summary(&self, data: &str) -> JsResult<Option<Vec<HandleSummaryFile>>> {
        let ctx = self.ctx();
        let data = ctx.parse_json(data.as_bytes())?;
        // k6: the key is there, whether setup() has returned anything or not.
        if !data.has(ctx, "setup_data")? {
            data.define(ctx, "setup_data", Val::undefined())?;
        }
        let result = self.call_exported("handleSummary", &[&data])?;
        if !result.truthy(ctx) {
            return Ok(None);
        }
        if !result.is_object() || result.is_array() || result.is_function(ctx) {
            return Err(Throw::error("handleSummary() should return a map with string keys"));
        }
        let mut files = Vec::new();
        for key in result.keys(ctx)? {
            let value = result.get(ctx, &key)?;
            let content = if let Some(bytes) = value.array_buffer(ctx).or_else(|| value.typed_array(ctx)) {
                bytes.to_vec()
            } else if value.is_string() {
                value.to_js_string(ctx)?.text().into_owned().into_bytes()
            } else {
                return Err(Throw::error(format!(
                    "handleSummary() returned neither a string nor bytes for '{}'",
                    key.text(ctx)?
                )));
            };
            files.push(HandleSummaryFile { path: key.text(ctx)?, content });
        }
        Ok(Some(files))
    }
}
