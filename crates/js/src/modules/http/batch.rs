//! `http.batch`: several requests of one VU at once, each on a child fiber.

use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    rc::Rc,
};

use onrush_fiber::{FiberId, Woke};
use onrush_net::NetError;
use rustc_hash::FxHashMap;

use super::{
    arguments::{self, Prepared, Refused},
    call,
    send::{self, Exchange},
    url_template::UrlTemplate,
};
use crate::{
    embed::{Args, Ctx, Handle, HostClass, JsResult, Throw, Val},
    log::Level,
    modules::go::{go_text, go_type},
    vu::{Vu, context},
};

/// The requests of a batch and what became of them.
struct Batch {
    vu: Rc<Vu>,
    requests: Vec<Rc<Prepared>>,
    next: Cell<usize>,
    results: RefCell<Vec<Option<JsResult<Rc<Exchange>>>>>,
    running: Cell<usize>,
    parent: FiberId,
    /// Requests under way by `host:port`, and the workers waiting for a place.
    hosts: RefCell<FxHashMap<String, Host>>,
}

#[derive(Default)]
struct Host {
    busy: usize,
    waiting: Vec<FiberId>,
}

pub(super) fn batch(ctx: Ctx, _: &Handle, args: Args<'_>) -> JsResult {
    let vu = context::vu();
    if vu.in_init() {
        return Err(Throw::error("Using batch in the init context is not supported"));
    }
    if args.len() == 0 {
        return Err(Throw::error("no argument was provided to http.batch()"));
    }
    let input = args.at(0);
    if !input.is_object() {
        return Err(Throw::error(format!("invalid http.batch() argument type {}", go_type(ctx, input))));
    }
    let keys = if input.is_array() { None } else { Some(input.keys(ctx)?) };
    let mut entries = Vec::new();
    match &keys {
        None => {
            for index in 0..input.length(ctx)? {
                entries.push(input.get_index(ctx, index)?);
            }
        }
        Some(keys) => {
            for key in keys {
                entries.push(input.get(ctx, key)?);
            }
        }
    }
    let mut requests = Vec::with_capacity(entries.len());
    let mut refused: Option<(usize, Refused)> = None;
    for (index, entry) in entries.iter().enumerate() {
        match entry_request(ctx, vu, index, entry)? {
            Ok(prepared) => requests.push(prepared),
            Err(error) => {
                refused = Some((index, error));
                break;
            }
        }
    }
    let responses = match refused {
        Some((index, error)) => {
            let mut responses = one_refused(ctx, vu, index, error)?;
            if keys.is_none() {
                // k6: a list keeps its length; an object has what was built.
                responses.resize_with(entries.len(), Val::null);
            }
            responses
        }
        None => run(ctx, vu, requests)?,
    };
    let result = if keys.is_some() { ctx.object()? } else { ctx.array()? };
    for (index, response) in responses.into_iter().enumerate() {
        match &keys {
            Some(keys) => result.define(ctx, &keys[index], response)?,
            None => result.define_index(ctx, index as u32, response)?,
        }
    }
    Ok(result)
}

/// k6: one entry that cannot be parsed keeps the whole batch from being sent; its place carries the error.
fn one_refused(ctx: Ctx, vu: &Vu, index: usize, error: Refused) -> JsResult<Vec<Val>> {
    if error.throw {
        return Err(Throw::error(error.error.detail));
    }
    vu.script().log.line(crate::log::Line {
        level: Level::Warn,
        message: "A batch request failed".to_owned(),
        fields: vec![("error".into(), error.error.detail.clone())],
    });
    // Those before it were not sent either: they are responses that say nothing.
    let nothing = || Refused { error: NetError::new(0, ""), throw: false };
    let mut responses: Vec<Val> =
        (0..index).map(|_| super::response::create(ctx, vu, Exchange::refused(nothing()))).collect::<JsResult<_>>()?;
    responses.push(super::response::create(ctx, vu, Exchange::refused(error))?);
    Ok(responses)
}

fn entry_request(ctx: Ctx, vu: &Vu, index: usize, entry: &Handle) -> JsResult<Result<Rc<Prepared>, Refused>> {
    let refuse = |text: String| Ok(Err(Refused { error: NetError::new(0, text), throw: vu.thread.config.http.throw }));
    if entry.is_array() {
        let length = entry.length(ctx)?;
        if length < 2 {
            let shown = if length == 0 {
                String::new()
            } else {
                serde_json::Value::String(entry.get_index(ctx, 0)?.to_text(ctx)?).to_string()
            };
            return refuse(format!("invalid batch request '[]interface {{}}{{{shown}}}'"));
        }
        let item = |index| if index < length { entry.get_index(ctx, index) } else { Ok(Val::undefined()) };
        let method = &*item(0)?;
        if !method.is_string() {
            return refuse(no_method(ctx, method)?);
        }
        let method = arguments::method(ctx, method)?;
        // k6: a GET given as an array keeps its body.
        return arguments::prepare(ctx, vu, method, &*item(1)?, &*item(2)?, &*item(3)?);
    }
    if !entry.is_object() || HostClass::<UrlTemplate>::of(entry).is_some() {
        return arguments::prepare(ctx, vu, "GET".into(), entry, Handle::UNDEFINED, Handle::UNDEFINED);
    }
    let url = entry.get(ctx, "url")?;
    if !url.is_set() {
        return refuse(format!("batch request {index} doesn't have a url key"));
    }
    let method = entry.get(ctx, "method")?;
    let has_method = entry.has(ctx, "method")?;
    if has_method && !method.is_string() {
        return refuse(no_method(ctx, &method)?);
    }
    // k6: only the methods of entries that are objects are put into upper case.
    let method: std::borrow::Cow<'static, str> =
        if has_method { arguments::method(ctx, &method)?.to_uppercase().into() } else { "GET".into() };
    let body = if matches!(&*method, "GET" | "HEAD") { Val::undefined() } else { entry.get(ctx, "body")? };
    let params = entry.get(ctx, "params")?;
    arguments::prepare(ctx, vu, method, &url, &body, &params)
}

fn no_method(ctx: Ctx, value: &Handle) -> JsResult<String> {
    let shown = if value.is_object() { format!("{}{{}}", go_type(ctx, value)) } else { go_text(ctx, value)? };
    Ok(format!("invalid method type '{shown}'"))
}

fn run(ctx: Ctx, vu: &Vu, requests: Vec<Rc<Prepared>>) -> JsResult<Vec<Val>> {
    let Some(parent) = onrush_fiber::current() else { return Err(Throw::error("http.batch() needs a running VU")) };
    let count = requests.len();
    let batch = Rc::new(Batch {
        vu: context::vu_rc(),
        results: RefCell::new((0..count).map(|_| None).collect()),
        requests,
        next: Cell::new(0),
        running: Cell::new(0),
        parent,
        hosts: RefCell::default(),
    });
    let workers = count.min(vu.thread.config.http.batch.max(1));
    let mut fibers = Vec::with_capacity(workers);
    batch.running.set(workers);
    for _ in 0..workers {
        let own = batch.clone();
        fibers.push(onrush_fiber::spawn(None, move || own.work()));
    }
    let mut is_cancelled = false;
    while batch.running.get() > 0 {
        if onrush_fiber::park(None) == Woke::Cancelled {
            is_cancelled = true;
            // The children end at once and are waited for: they use this VU's connections.
            onrush_fiber::clear_cancel();
            for fiber in &fibers {
                onrush_fiber::cancel(*fiber);
            }
        }
    }
    if is_cancelled {
        // Keeps the mark for whoever looks at it while the exception unwinds.
        onrush_fiber::cancel(parent);
        return Err(Throw::Interrupted);
    }
    let results = batch.results.take();
    results
        .into_iter()
        .map(|result| result.unwrap_or(Err(Throw::Interrupted)).and_then(|exchange| call::finish(ctx, vu, exchange)))
        .collect()
}

impl Batch {
    /// Takes requests in list order until none is left.
    fn work(&self) {
        let mut panic = None;
        while let Some(request) = self.take() {
            let (index, prepared) = request;
            let host = prepared.target.url.authority().to_owned();
            let result = if self.enter(&host) {
                let sent = catch_unwind(AssertUnwindSafe(|| {
                    crate::realm::throttle::wait(&self.vu.thread.config)?;
                    send::send(&self.vu, &prepared)
                }));
                self.leave(&host);
                sent.unwrap_or_else(|caught| {
                    let error = Throw::panic(&*caught);
                    panic = Some(caught);
                    Err(error)
                })
            } else {
                Err(Throw::Interrupted)
            };
            self.results.borrow_mut()[index] = Some(result);
        }
        self.running.set(self.running.get() - 1);
        if self.running.get() == 0 {
            onrush_fiber::unpark(self.parent);
        }
        // The VU has its error. From here the panic is reported like one of any fiber.
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    fn take(&self) -> Option<(usize, Rc<Prepared>)> {
        let index = self.next.get();
        let request = self.requests.get(index)?.clone();
        self.next.set(index + 1);
        Some((index, request))
    }

    /// Waits for one of the host's `batchPerHost` places; false when cancelled.
    fn enter(&self, host: &str) -> bool {
        let limit = self.vu.thread.config.http.batch_per_host;
        loop {
            {
                let mut hosts = self.hosts.borrow_mut();
                let state = hosts.entry(host.to_owned()).or_default();
                if limit == 0 || state.busy < limit {
                    state.busy += 1;
                    return true;
                }
                state.waiting.extend(onrush_fiber::current());
            }
            if onrush_fiber::park(None) == Woke::Cancelled {
                return false;
            }
        }
    }

    fn leave(&self, host: &str) {
        if let Some(state) = self.hosts.borrow_mut().get_mut(host) {
            state.busy -= 1;
            for fiber in state.waiting.drain(..) {
                onrush_fiber::unpark(fiber);
            }
        }
    }
}
