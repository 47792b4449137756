//! `http.expectedStatuses` and response callbacks.

use std::rc::Rc;

use super::state::HttpState;
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    vu::context::vu,
};

/// Which statuses count as expected.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResponseCallback {
    /// `None`: k6's default.
    ranges: Option<Rc<[(i64, i64)]>>,
}

/// k6's default.
const EXPECTED: &[(i64, i64)] = &[(200, 399)];

impl ResponseCallback {
    pub(super) fn expects(&self, status: u16) -> bool {
        let status = i64::from(status);
        self.ranges.as_deref().unwrap_or(EXPECTED).iter().any(|(min, max)| (*min..=*max).contains(&status))
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
        ranges.push(range(ctx, arg, index + 1)?.ok_or_else(|| {
            Throw::error(format!(
                "argument number {} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}",
                index + 1
            ))
        })?);
    }
    HostClass::create(ctx, ResponseCallback { ranges: Some(ranges.into()) })
}

/// The statuses one argument stands for; `Ok(None)` for what is neither an integer nor a range.
fn range(ctx: Ctx, arg: &Handle, number: usize) -> JsResult<Option<(i64, i64)>> {
    let integer = |value: &Handle| value.as_number().filter(|number| number.fract() == 0.0).map(|number| number as i64);
    if let Some(status) = integer(arg) {
        return Ok(Some((status, status)));
    }
    if !arg.is_set() {
        return Err(Throw::type_error("Cannot convert undefined or null to object"));
    }
    if !arg.is_object() {
        return Ok(None);
    }
    let (min, max) = (arg.get(ctx, "min")?, arg.get(ctx, "max")?);
    if !min.is_set() || !max.is_set() {
        return Ok(None);
    }
    match integer(&min).zip(integer(&max)) {
        Some(range) => Ok(Some(range)),
        None => Err(Throw::error(format!("both min and max need to be integers for argument number {number}"))),
    }
}

pub(super) fn set_response_callback(_: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let callback = if args.at(0).is_undefined() { None } else { from_value(args.at(0)) };
    let callback = callback.ok_or_else(|| Throw::error("unsupported argument, expected http.expectedStatuses"))?;
    HttpState::of(vu()).callback.replace(callback);
    Ok(Val::undefined())
}

/// A callback given by a script; null disables the check. `None`: it is something else.
pub(super) fn from_value(value: &Handle) -> Option<Option<ResponseCallback>> {
    if !value.is_set() { Some(None) } else { HostClass::<ResponseCallback>::of(value).cloned().map(Some) }
}
