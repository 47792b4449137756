//! The view of a run: its records in a dashboard, as a stream and in reports. What the records are is `onrush_view`'s business.

mod follow;
mod hub;
mod report;
mod stand;
mod wanted;

use std::{path::PathBuf, time::Duration};

use onrush_fiber::Clock;
use onrush_metrics::Steps;
use onrush_output::{Feed, Folded};
use onrush_results::End;
use onrush_server::{Address, AddressError, Identity, Listener, Page, Server, Site};
use onrush_session::{
    DeltaSink,
    protocol::{AgentId, ThreadDelta},
};
use onrush_view::{History, assets};

use self::hub::{Hub, Stepper};
pub(super) use self::{follow::Follow, report::scenarios};
pub(crate) use self::{report::end, stand::thresholds, wanted::Dashboard};
use super::{outputs::Wanted, prepare::Prepared};
use crate::{
    args::{ApiArgs, RunArgs},
    context::Context,
    failure::Failure,
    log::Level,
    save::save,
};

/// Steps are made into records in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The view of a run under way.
pub(super) struct View {
    hub: Hub,
    folded: Folded<Stepper>,
    /// Where the dashboard will be served, until it is.
    listener: Option<Listener>,
    /// The dashboard's address, where it has one.
    pub(super) url: Option<String>,
    opens: bool,
    reports: Vec<PathBuf>,
    /// What serves it. Ends when the records do.
    servers: Vec<Server>,
    /// The summary of the run that is over.
    summary: serde_json::Value,
}

impl View {
    /// Starts what is asked for; `None` where nothing is.
    ///
    /// # Errors
    /// 255 for a place that cannot be listened on, where it was chosen.
    pub(super) fn start(
        cx: &Context,
        args: &RunArgs,
        wanted: &Wanted,
        prepared: &Prepared,
        agents: u32,
    ) -> Result<Option<Self>, Failure> {
        let dashboard = wanted.dashboard.as_ref();
        if dashboard.is_none() && wanted.reports.is_empty() {
            return Ok(None);
        }
        dashboard.iter().flat_map(|dashboard| &dashboard.ignored).for_each(|text| cx.logger.info(*text));
        let listener = dashboard.map(|dashboard| listen(cx, dashboard)).transpose()?.flatten();
        let url = listener.as_ref().map(|listener| {
            let scheme = if listener.identity.is_some() { "https" } else { "http" };
            format!("{scheme}://{}", listener.address)
        });
        let can_steer = listener.is_some() || args.api.is_some();
        let head = report::head(args, prepared, agents, can_steer);
        let run = format!("{:x}-{:x}", Clock::unix_nanos(Clock::now()), std::process::id());
        let hub = Hub::new(History::new(head, run));
        let folded = Folded::start(Stepper(hub.clone()), Steps::of_seconds(), |_| {})
            .map_err(|error| Failure::other(format!("failed to start the thread of the view: {error}")))?;
        Ok(Some(Self {
            hub,
            folded,
            opens: url.is_some() && dashboard.is_some_and(|dashboard| dashboard.opens),
            listener,
            url,
            reports: wanted.reports.clone(),
            servers: Vec::new(),
            summary: serde_json::Value::Null,
        }))
    }

    /// What brings it the samples of all agents.
    pub(super) fn sink(&self) -> Box<dyn DeltaSink> {
        Box::new(Sink(self.folded.feed()))
    }

    /// Where the dashboard is to be served, once.
    pub(super) fn take_listener(&mut self) -> Option<Listener> {
        self.listener.take()
    }

    /// The records beside the REST API.
    pub(super) fn stream(&self) -> Site {
        Site::new(std::sync::Arc::new(self.hub.clone()), self.hub.bell())
    }

    /// The same with the pages of the dashboard.
    pub(super) fn site(&self) -> Site {
        let page =
            |asset: assets::Asset| Page { path: asset.path, media_type: asset.media_type, content: asset.content };
        let pages = assets::DASHBOARD.into_iter().map(page).collect();
        self.stream().with_pages(pages, assets::DASHBOARD_POLICY, assets::REPORT_POLICY)
    }

    /// The run is judged: this is its summary, and these servers show the rest.
    pub(super) fn conclude(&mut self, summary: serde_json::Value, servers: Vec<Server>) {
        (self.summary, self.servers) = (summary, servers);
    }

    /// Shows it in a browser, if that is wanted.
    pub(super) fn open(&self, cx: &Context) {
        let Some(url) = self.url.as_ref().filter(|_| self.opens) else { return };
        let browser = cx.flags.env.get("BROWSER").filter(|program| !program.is_empty());
        let program = browser.map_or("xdg-open", String::as_str);
        let started = std::process::Command::new(program)
            .arg(url)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn();
        if let Err(error) = started {
            cx.logger.warn(format!("the dashboard could not be opened with {program}: {error}; it is at {url}"));
        }
    }

    /// Tells clients the end and writes the reports. Returns whether they could be written.
    pub(super) fn finish(self, cx: &Context, end: &End) -> bool {
        if let Err(why) = self.folded.finish((), PATIENCE) {
            cx.logger.warn(format!("dashboard and report lack the end of the run: {why}"));
        }
        self.hub.tell(|history| history.end(&report::end(end)));
        let mut is_written = true;
        if !self.reports.is_empty() {
            let html = self.hub.html(&self.summary);
            for path in &self.reports {
                is_written &= write(cx, path, &html);
            }
        }
        // Clients get a moment to read the end, and no more: a tab that is open keeps nobody waiting.
        drop(self.servers);
        is_written
    }
}

/// Writes a report; one whose name ends with `.gz` is packed.
pub(crate) fn write(cx: &Context, path: &std::path::Path, html: &str) -> bool {
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let bytes = if is_packed { onrush_view::report::packed(html) } else { html.as_bytes().to_vec() };
    let name = path.display().to_string();
    let written = save(&name, bytes);
    if let Err(error) = &written {
        cx.logger.error(format!("failed to write the report {name}: {error}"));
    }
    written.is_ok()
}

struct Sink(Feed<()>);

impl DeltaSink for Sink {
    fn delta(&mut self, _: AgentId, part: &ThreadDelta) {
        self.0.add(&part.delta, part.span);
    }
}

/// Listens where the dashboard is to be. `None` where there is to be no server, or another program has the usual place.
fn listen(cx: &Context, dashboard: &Dashboard) -> Result<Option<Listener>, Failure> {
    let Some(port) = dashboard.port else { return Ok(None) };
    let place = format!("{}:{port}", wanted::shown_host(&dashboard.host));
    let listener = ApiArgs::identity(&cx.flags)?
        .map(|(certificate, key)| Identity::from_files(&certificate, &key))
        .transpose()
        .map_err(AddressError::from)
        .and_then(|identity| Listener::bind(&Address::parse(&place)?, cx.flags.text("api-token"), identity));
    let error = match listener {
        Ok(listener) => {
            if let Some(identity) = &listener.identity {
                let print = &identity.fingerprint;
                let text = format!("the certificate of the dashboard has the SHA-256 fingerprint {print}");
                cx.logger.log(Level::Info, text, Vec::new());
            }
            return Ok(Some(listener));
        }
        Err(error) => error,
    };
    let is_taken = matches!(&error, AddressError::Listen(error) if error.kind() == std::io::ErrorKind::AddrInUse);
    let message = match error {
        AddressError::Listen(error) => format!("the dashboard cannot listen on {place}: {error}"),
        other => format!("the dashboard cannot be served: {other}"),
    };
    // k6: the same.
    if is_taken && !dashboard.is_chosen {
        cx.logger.warn(format!(
            "{message}; the test runs without it. Another test may be running: choose another place with --out web-dashboard=port=0"
        ));
        return Ok(None);
    }
    Err(Failure::other(message).hint(match is_taken {
        true => "choose another place: --out web-dashboard=port=0 takes a free one",
        false => "set ONRUSH_API_TOKEN to at least 16 characters (openssl rand -hex 16), or listen on 127.0.0.1",
    }))
}
