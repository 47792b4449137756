//! Selections: jQuery's methods, with k6's ways of taking arguments.

use std::rc::Rc;

use onrush_html::{Selection, Step};

use super::{
    chosen,
    element::{self, Classes},
    page::ensure_room,
    value,
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, HostObject, JsResult, Throw, Val},
    log::Level,
    modules::go::escape,
    vu::context::vu,
};

/// A selection as scripts hold it.
struct Selected(Rc<Selection>);

impl HostObject for Selected {
    const NAME: &'static str = "Selection";
}

/// A new object over a selection.
pub(crate) fn create(ctx: Ctx, selection: Rc<Selection>) -> JsResult {
    let vu = vu();
    ensure_room(vu)?;
    Classes::of(vu.realm())?;
    let url = Val::string(ctx, selection.document().url())?;
    let object = HostClass::create(ctx, Selected(selection))?;
    object.define(ctx, "url", url)?;
    Ok(object)
}

/// The selection behind an object, if it is one.
pub(super) fn of(value: &Handle) -> Option<&Rc<Selection>> {
    HostClass::<Selected>::of(value).map(|selected| &selected.0)
}

fn this_of(this: &Handle) -> JsResult<Rc<Selection>> {
    HostClass::<Selected>::expect(this).map(|selected| selected.0.clone())
}

pub(super) fn install_class(ctx: Ctx) -> JsResult<()> {
    let prototype = ctx.object()?;
    install_sets(ctx, &prototype)?;
    install_steps(ctx, &prototype)?;
    install_values(ctx, &prototype)?;
    prototype.method(ctx, "each", 1, each)?;
    prototype.method(ctx, "map", 1, map)?;
    HostClass::<Selected>::set_prototype(ctx, prototype);
    Ok(())
}

/// Other sets of nodes.
fn install_sets(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    prototype.method(ctx, "find", 1, |ctx, this, args| {
        let this = this_of(this)?;
        let chosen = chosen::any(ctx, &this, args.at(0))?;
        create(ctx, Rc::new(this.find_chosen(&chosen)))
    })?;
    prototype.method(ctx, "add", 1, |ctx, this, args| {
        let this = this_of(this)?;
        let chosen = chosen::any(ctx, &this, args.at(0))?;
        create(ctx, Rc::new(this.add(&chosen)))
    })?;
    prototype.method(ctx, "closest", 1, |ctx, this, args| {
        let this = this_of(this)?;
        let chosen = chosen::any(ctx, &this, args.at(0))?;
        create(ctx, Rc::new(this.closest(&chosen)))
    })?;
    prototype.method(ctx, "has", 1, |ctx, this, args| {
        let this = this_of(this)?;
        let chosen = chosen::any(ctx, &this, args.at(0))?;
        create(ctx, Rc::new(this.has(&chosen)))
    })?;
    prototype.method(ctx, "not", 1, |ctx, this, args| {
        let this = this_of(this)?;
        let chosen = match passing(ctx, &this, args.at(0))? {
            Some(passing) => onrush_html::Chosen::Nodes(passing),
            None => chosen::any(ctx, &this, args.at(0))?,
        };
        create(ctx, Rc::new(this.not(&chosen)))
    })?;
    prototype.method(ctx, "filter", 1, |ctx, this, args| {
        let this = this_of(this)?;
        let chosen = match passing(ctx, &this, args.at(0))? {
            Some(passing) => onrush_html::Chosen::Nodes(passing),
            None => chosen::filter(ctx, &this, args.at(0), "filter")?,
        };
        create(ctx, Rc::new(this.filter(&chosen)))
    })?;
    prototype.method(ctx, "is", 1, |ctx, this, args| {
        let this = this_of(this)?;
        let is = match passing(ctx, &this, args.at(0))? {
            Some(passing) => !passing.is_empty(),
            None => this.is(&chosen::filter(ctx, &this, args.at(0), "is")?),
        };
        Ok(Val::bool(is))
    })?;
    prototype.method(ctx, "eq", 1, |ctx, this, args| {
        let index = args.at(0).to_i64(ctx)?;
        create(ctx, Rc::new(this_of(this)?.at(index)))
    })?;
    prototype.method(ctx, "first", 0, |ctx, this, _| create(ctx, Rc::new(this_of(this)?.at(0))))?;
    prototype.method(ctx, "last", 0, |ctx, this, _| create(ctx, Rc::new(this_of(this)?.at(-1))))?;
    prototype.method(ctx, "slice", 2, |ctx, this, args| {
        let start = args.at(0).to_i64(ctx)?;
        let end = if args.at(1).is_set() { Some(args.at(1).to_i64(ctx)?) } else { None };
        create(ctx, Rc::new(this_of(this)?.slice(start, end)))
    })?;
    prototype.method(ctx, "end", 0, |ctx, this, _| create(ctx, this_of(this)?.end()))
}

/// From each node to others.
fn install_steps(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    const STEPS: [(&str, Step); 8] = [
        ("children", Step::Children),
        ("parent", Step::Parent),
        ("parents", Step::Parents),
        ("next", Step::Next),
        ("nextAll", Step::NextAll),
        ("prev", Step::Previous),
        ("prevAll", Step::PreviousAll),
        ("siblings", Step::Siblings),
    ];
    const UNTIL: [(&str, Step); 3] =
        [("nextUntil", Step::NextAll), ("prevUntil", Step::PreviousAll), ("parentsUntil", Step::Parents)];
    for (number, (name, _)) in STEPS.iter().enumerate() {
        let method = ctx.numbered(name, 1, number as i16, |ctx, this, args, number| {
            let this = this_of(this)?;
            let filter = chosen::text(ctx, args, 0)?;
            create(ctx, Rc::new(this.walk(STEPS[number].1, None, filter.as_ref())))
        })?;
        prototype.define_hidden(ctx, *name, method)?;
    }
    for (number, (name, _)) in UNTIL.iter().enumerate() {
        let method = ctx.numbered(name, 2, number as i16, |ctx, this, args, number| {
            let this = this_of(this)?;
            let until = chosen::until(ctx, &this, args.at(0))?;
            let filter = chosen::text(ctx, args, 1)?;
            create(ctx, Rc::new(this.walk(UNTIL[number].1, until.as_ref(), filter.as_ref())))
        })?;
        prototype.define_hidden(ctx, *name, method)?;
    }
    prototype.method(ctx, "contents", 0, |ctx, this, _| {
        create(ctx, Rc::new(this_of(this)?.walk(Step::Contents, None, None)))
    })
}

/// What the nodes hold.
fn install_values(ctx: Ctx, prototype: &Handle) -> JsResult<()> {
    prototype.method(ctx, "size", 0, |_, this, _| Ok(Val::number(this_of(this)?.len() as f64)))?;
    prototype.method(ctx, "text", 0, |ctx, this, _| Val::string(ctx, &this_of(this)?.text()))?;
    // k6: an empty selection has empty markup.
    prototype.method(ctx, "html", 0, |ctx, this, _| Val::string(ctx, &this_of(this)?.html().unwrap_or_default()))?;
    prototype.method(ctx, "attr", 2, |ctx, this, args| {
        let this = this_of(this)?;
        match this.attribute(&args.at(0).to_text(ctx)?) {
            Some(text) => Val::string(ctx, text),
            None => Ok(args.at(1).dup()),
        }
    })?;
    prototype.method(ctx, "val", 0, |ctx, this, _| {
        let this = this_of(this)?;
        let held = this.first().and_then(|node| this.document().control_value(node));
        value::field(ctx, held.as_ref())
    })?;
    prototype.method(ctx, "data", 1, data)?;
    prototype.method(ctx, "index", 1, index)?;
    prototype.method(ctx, "get", 1, get)?;
    prototype.method(ctx, "toArray", 0, to_array)?;
    prototype.method(ctx, "serialize", 0, serialize)?;
    prototype.method(ctx, "serializeArray", 0, serialize_array)?;
    prototype.method(ctx, "serializeObject", 0, |ctx, this, _| fields_object(ctx, &*this_of(this)?))
}

fn data(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let this = this_of(this)?;
    let Some(node) = this.first() else { return Ok(Val::undefined()) };
    if args.len() > 0 {
        return match this.document().data_attribute(node, &args.at(0).to_text(ctx)?) {
            Some(text) => value::data(ctx, &onrush_html::data_value(text)),
            None => Ok(Val::undefined()),
        };
    }
    let object = ctx.object()?;
    for (key, typed) in this.document().data(node) {
        object.define(ctx, &key, value::data(ctx, &typed)?)?;
    }
    Ok(object)
}

fn index(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let this = this_of(this)?;
    let found = if args.len() == 0 {
        this.index()
    } else if let Some(other) = of(args.at(0)) {
        this.common(other).first().and_then(|node| this.position(*node))
    } else {
        this.index_in(&args.at(0).to_text(ctx)?)
    };
    Ok(Val::number(found.map_or(-1.0, |index| index as f64)))
}

fn get(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let this = this_of(this)?;
    if args.len() == 0 {
        return element::array(ctx, this.document(), this.nodes());
    }
    let index = args.at(0).to_i64(ctx)?;
    let length = this.len() as i64;
    // k6: the first one is not found from the end.
    let index = if index < 0 && -index < length { index + length } else { index };
    let node = usize::try_from(index).ok().and_then(|index| this.nodes().get(index).copied());
    element::optional(ctx, this.document(), node)
}

fn to_array(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let this = this_of(this)?;
    let array = ctx.array()?;
    for (index, node) in (0..).zip(this.nodes()) {
        array.define_index(ctx, index, create(ctx, Rc::new(Selection::of_node(this.document(), *node)))?)?;
    }
    Ok(array)
}

/// The controls' names and values as an object.
pub(super) fn fields_object(ctx: Ctx, selection: &Selection) -> JsResult {
    let object = ctx.object()?;
    for (name, held) in selection.fields_by_name() {
        object.define(ctx, &name, value::field(ctx, held.as_ref())?)?;
    }
    Ok(object)
}

fn serialize_array(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let array = ctx.array()?;
    for (index, field) in (0..).zip(this_of(this)?.fields()) {
        let entry = ctx.object()?;
        entry.define(ctx, "name", Val::string(ctx, &field.name)?)?;
        entry.define(ctx, "value", value::field(ctx, field.value.as_ref())?)?;
        array.define_index(ctx, index, entry)?;
    }
    Ok(array)
}

fn serialize(ctx: Ctx, this: &Handle, _: Args<'_>) -> JsResult {
    let mut text = String::new();
    for (name, held) in this_of(this)?.fields_by_name() {
        for value in held.iter().flat_map(value::texts) {
            text.push_str(if text.is_empty() { "" } else { "&" });
            escape(&name, &mut text);
            text.push('=');
            escape(value, &mut text);
        }
    }
    Val::string(ctx, &text)
}

/// The nodes a function says yes to; `None` if the argument is no function.
fn passing(ctx: Ctx, this: &Rc<Selection>, test: &Handle) -> JsResult<Option<Vec<onrush_html::NodeId>>> {
    if !test.is_function(ctx) {
        return Ok(None);
    }
    let mut passing = Vec::new();
    for (index, node) in this.nodes().iter().enumerate() {
        let one = create(ctx, Rc::new(Selection::of_node(this.document(), *node)))?;
        if ctx.call(test, Handle::UNDEFINED, &[&Val::number(index as f64), &one])?.truthy(ctx) {
            passing.push(*node);
        }
    }
    Ok(Some(passing))
}

fn each(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let selection = this_of(this)?;
    let function = args.at(0);
    if !function.is_function(ctx) {
        return Err(Throw::error("the argument to each() must be a function"));
    }
    for (index, node) in selection.nodes().iter().enumerate() {
        let one = element::create(ctx, selection.document(), *node)?;
        if let Err(throw) = ctx.call(function, Handle::UNDEFINED, &[&Val::number(index as f64), &one]) {
            let reason = callback_failure(ctx, throw)?;
            return Err(Throw::error(format!("the function passed to each() failed: {reason}")));
        }
    }
    Ok(this.dup())
}

fn map(ctx: Ctx, this: &Handle, args: Args<'_>) -> JsResult {
    let selection = this_of(this)?;
    let function = args.at(0);
    if !function.is_function(ctx) {
        return Err(Throw::error("the argument to map() must be a function"));
    }
    let array = ctx.array()?;
    let mut length = 0;
    for (index, node) in selection.nodes().iter().enumerate() {
        let one = create(ctx, Rc::new(Selection::of_node(selection.document(), *node)))?;
        match ctx.call(function, Handle::UNDEFINED, &[&Val::number(index as f64), &one]) {
            Ok(made) => {
                array.define_index(ctx, length, made)?;
                length += 1;
            }
            // k6: what throws is left out, without a word.
            Err(throw) => {
                let reason = callback_failure(ctx, throw)?;
                vu().log(Level::Warn, format!("the function passed to map() failed, its result is left out: {reason}"));
            }
        }
    }
    Ok(array)
}

/// What a function of the script threw, as text; the end of the iteration goes on as it is.
fn callback_failure(ctx: Ctx, throw: Throw) -> JsResult<String> {
    if matches!(throw, Throw::Interrupted) {
        return Err(throw);
    }
    let exception = ctx.take_exception(throw);
    if exception.interrupted {
        return Err(Throw::Interrupted);
    }
    let place = exception.stack.lines().next().map(str::trim).unwrap_or_default();
    Ok(format!("{} {place}", exception.message).trim_end().to_owned())
}
