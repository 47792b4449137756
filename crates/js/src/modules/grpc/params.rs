//! The parameters of calls and streams.

use onrush_grpc::{Metadata, metadata::BINARY};
use onrush_metrics::TagNode;
use onrush_net::go_quote;
use onrush_plan::parse_extended_duration;

use super::problem::Problem;
use crate::{
    embed::{Ctx, Handle},
    modules::{go::go_type, tag_value},
    vu::{Vu, context::with_named},
};

/// What a call was asked to be like.
pub(super) struct Params {
    pub(super) metadata: Metadata,
    /// `None` is the default. Zero has passed already.
    pub(super) timeout_ns: Option<u64>,
    pub(super) discards_message: bool,
    /// The user's own `name` tag.
    pub(super) name: Option<Box<str>>,
    /// The tags of its samples: those of the VU and those given.
    pub(super) node: TagNode,
}

pub(super) fn parse(ctx: Ctx, vu: &Vu, value: &Handle) -> Result<Params, Problem> {
    let mut params = Params {
        metadata: Metadata::default(),
        timeout_ns: None,
        discards_message: false,
        name: None,
        node: vu.node.get(),
    };
    if !value.is_object() {
        // k6: the letters of a text are its members.
        return match value.is_string() && !value.to_text(ctx)?.is_empty() {
            true => Err(Problem::Text("unknown param: \"0\"".to_owned())),
            false => Ok(params),
        };
    }
    for key in value.each_key(ctx)? {
        let item = value.get(ctx, &key)?;
        let key = key.to_js_string(ctx)?;
        match &*key.text() {
            "metadata" => {
                params.metadata =
                    metadata(ctx, &item).map_err(|problem| before(problem, "invalid metadata param: "))?;
            }
            "tags" => tags(ctx, vu, &mut params, &item)?,
            "timeout" => params.timeout_ns = timeout(ctx, &item)?,
            "discardResponseMessage" => params.discards_message = item.truthy(ctx),
            other => return Err(Problem::Text(format!("unknown param: {}", go_quote(other)))),
        }
    }
    Ok(params)
}

fn before(problem: Problem, before: &str) -> Problem {
    match problem {
        Problem::Text(text) => Problem::Text(format!("{before}{text}")),
        other => other,
    }
}

/// Names and values of metadata. Values are texts, those of names in `-bin` bytes.
pub(super) fn metadata(ctx: Ctx, value: &Handle) -> Result<Metadata, Problem> {
    let mut metadata = Metadata::default();
    if !value.is_set() {
        return Ok(metadata);
    }
    if !value.is_object() || value.is_array() || value.is_function(ctx) {
        return Err(Problem::Text("must be an object with key-value pairs".to_owned()));
    }
    let mut bytes_left = METADATA_BYTES_MAX;
    for key in value.each_key(ctx)? {
        let item = value.get(ctx, &key)?;
        let name = key.text(ctx)?;
        let bytes = if name.ends_with(BINARY) {
            match item.typed_array(ctx).filter(|_| !is_wide(ctx, &item)) {
                Some(bytes) => bytes.to_vec(),
                None => return Err(Problem::Text(format!("{} value must be binary", go_quote(&name)))),
            }
        } else if item.is_string() {
            item.to_text(ctx)?.into_bytes()
        } else {
            return Err(Problem::Text(format!("{} value must be a string", go_quote(&name))));
        };
        bytes_left = bytes_left
            .checked_sub(name.len() + bytes.len())
            .ok_or_else(|| Problem::Text(format!("more than {} MiB of metadata", METADATA_BYTES_MAX >> 20)))?;
        metadata.add(&name, bytes);
    }
    Ok(metadata)
}

/// Elements of more than a byte.
fn is_wide(ctx: Ctx, value: &Handle) -> bool {
    let width = value.get(ctx, "BYTES_PER_ELEMENT").ok().and_then(|width| width.as_int());
    width != Some(1)
}

fn tags(ctx: Ctx, vu: &Vu, params: &mut Params, value: &Handle) -> Result<(), Problem> {
    let mut node = params.node;
    let mut own_name = None;
    let outcome = tag_value::for_each(ctx, value, |name, text| {
        if name == "name" {
            own_name = Some(text.into());
        } else {
            node = with_named(&mut vu.thread.shard.borrow_mut(), node, name, text);
        }
    })?;
    if let Err(name) = outcome {
        return Err(Problem::Text(format!("metric tags: {}", tag_value::complaint(&name))));
    }
    params.node = node;
    params.name = own_name;
    Ok(())
}

/// k6: zero is the default, and less has passed already.
fn timeout(ctx: Ctx, value: &Handle) -> Result<Option<u64>, Problem> {
    duration(ctx, value)
        .map(|ns| (ns != 0).then(|| ns.max(0).unsigned_abs()))
        .map_err(|problem| before(problem, "invalid timeout value: "))
}

/// Nanoseconds of a number of milliseconds, or of a text with a unit.
pub(super) fn duration(ctx: Ctx, value: &Handle) -> Result<i64, Problem> {
    if let Some(number) = value.as_number() {
        // k6: what is no number has passed.
        return Ok(if number.is_nan() { i64::MIN } else { (number * 1e6) as i64 });
    }
    if !value.is_string() {
        return Err(Problem::Text(format!("unable to use type {} as a duration value", go_type(ctx, value))));
    }
    let text = value.to_text(ctx)?;
    let duration = parse_extended_duration(&text).map_err(|error| Problem::Text(error.to_string()))?;
    Ok(duration.ns())
}

/// What an ordinary server takes by far.
const METADATA_BYTES_MAX: usize = 4 << 20;
