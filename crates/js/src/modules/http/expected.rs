//! `http.expectedStatuses` and response callbacks.

use std::rc::Rc;

use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::context::vu,
};

/// Which statuses count as expected.
#[derive(Debug, Clone)]
pub(crate) struct ResponseCallback {
    ranges: Rc<[(i64, i64)]>,
}

impl Default for ResponseCallback {
    /// k6's default: 200 to 399.
    fn default() -> Self {
        Self { ranges: Rc::new([(200, 399)]) }
    }
}

impl ResponseCallback {
    pub(super) fn expects(&self, status: u16) -> bool {
        let status = i64::from(status);
        self.ranges.iter().any(|(min, max)| (*min..=*max).contains(&status))
    }
}

impl HostObject for ResponseCallback {
    const NAME: &'static str = "ExpectedStatuses";
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    HostClass::<ResponseCallback>::set_prototype(ctx, ctx.object()?);
    Ok(())
}

pub(super) fn expected_statuses(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    if args.len() == 0 {
        return Err(Throw::error("no arguments"));
    }
    let mut ranges = Vec::with_capacity(args.len());
    for (index, arg) in args.iter().enumerate() {
        ranges.push(range(ctx, arg)?.ok_or_else(|| {
            Throw::error(format!("argument number {} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}", index + 1))
        })?);
    }
    HostClass::create(ctx, ResponseCallback { ranges: ranges.into() })
}

fn range(ctx: Ctx, arg: &Handle) -> JsResult<Option<(i64, i64)>> {
    let integer = |value: &Handle| value.as_number().filter(|number| number.fract() == 0.0).map(|number| number as i64);
    if let Some(status) = integer(arg) {
        return Ok(Some((status, status)));
    }
    if !arg.is_object() {
        return Ok(None);
    }
    let (min, max) = (arg.get(ctx, "min")?, arg.get(ctx, "max")?);
    Ok(integer(&min).zip(integer(&max)))
}

pub(super) fn set_response_callback(_: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    *vu().response_callback.borrow_mut() = from_value(args.at(0))?;
    Ok(Val::undefined())
}

/// A callback given by a script; null disables the check.
pub(super) fn from_value(value: &Handle) -> JsResult<Option<ResponseCallback>> {
    if value.is_null() || value.is_undefined() {
        return Ok(None);
    }
    HostClass::<ResponseCallback>::of(value).cloned().map(Some).ok_or_else(|| Throw::error("unsupported responseCallback"))
}
