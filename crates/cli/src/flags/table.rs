//! The table itself: the options of tests as `onrush_plan` lists them, and the settings of this program.

use std::sync::LazyLock;

use onrush_plan::{Area, Kind, OPTIONS, OptionInfo};

use super::{
    Command, Flag, Group, Role, Scope,
    Value::{self, Duration, Int, Optional, Repeated, Switch, Text},
};

const fn flag(
    long: &'static str,
    short: Option<char>,
    value: Value,
    env: Option<&'static str>,
    help: &'static str,
) -> Flag {
    Flag {
        long,
        short,
        value,
        env,
        help,
        default: "",
        allowed: &[],
        group: Group::Load,
        role: Role::Setting,
        scope: Scope::Run,
    }
}

impl Flag {
    const fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    const fn allowed(mut self, allowed: &'static [&'static str]) -> Self {
        self.allowed = allowed;
        self
    }

    /// The flag of an option.
    fn from_option(option: &OptionInfo) -> Option<Self> {
        let info = option.flag?;
        let value = match option.kind {
            Kind::Bool => Switch,
            Kind::Int => Int,
            Kind::Duration => Duration,
            Kind::Mode => Optional(info.value),
            // Segments contain commas, and so do all settings of DNS: these flags do not repeat.
            Kind::Text => Text(info.value),
            Kind::Table if option.key == "dns" => Text(info.value),
            Kind::List | Kind::Table => Repeated(info.value),
        };
        let group = match option.area {
            _ if option.key == "paused" => Group::Control,
            _ if option.key == "consoleOutput" => Group::Terminal,
            Area::Load => Group::Load,
            Area::Script => Group::Script,
            Area::Http => Group::Http,
            Area::Results => Group::Results,
        };
        Some(Self {
            long: info.long,
            short: info.short,
            value,
            env: option.variable,
            help: option.about,
            // What a switch is without its flag needs no words.
            default: if option.kind == Kind::Bool { "" } else { option.default },
            allowed: option.allowed,
            group,
            role: Role::Option,
            scope: if option.key == "vus" { Scope::OptionAndScale } else { Scope::Option },
        })
    }

    const fn accepted(mut self) -> Self {
        self.role = Role::Accepted;
        self
    }

    const fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    const fn not_yet(mut self, what: &'static str) -> Self {
        self.role = Role::NotYet(what);
        self.group = Group::NotYet;
        self
    }
}

/// The flag with this long name.
pub(crate) fn find(long: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.long == long)
}

/// All flags, in the order help shows them within their groups: options first.
pub(crate) static FLAGS: LazyLock<Vec<Flag>> =
    LazyLock::new(|| OPTIONS.iter().filter_map(Flag::from_option).chain(SETTINGS.iter().copied()).collect());

/// The flags that are no options of a test.
const SETTINGS: &[Flag] = &[
    // Script.
    flag(
        "env",
        Some('e'),
        Repeated("NAME=VALUE"),
        None,
        "Set a variable of __ENV; NAME alone copies it from the environment",
    )
    .group(Group::Script)
    .scope(Scope::Load),
    flag(
        "include-system-env-vars",
        None,
        Switch,
        Some("K6_INCLUDE_SYSTEM_ENV_VARS"),
        "Pass this process's environment to the script (default true for run, else false)",
    )
    .group(Group::Script)
    .scope(Scope::Load),
    flag(
        "compatibility-mode",
        None,
        Text("MODE"),
        Some("K6_COMPATIBILITY_MODE"),
        "How to read scripts: extended, base (default extended)",
    )
    .group(Group::Script)
    .scope(Scope::Load)
    .allowed(&["extended", "base"]),
    flag("type", Some('t'), Text("TYPE"), Some("K6_TYPE"), "Type of FILE: js, archive (default: detected)")
        .group(Group::Script)
        .scope(Scope::Load)
        .allowed(&["js", "archive"]),
    flag(
        "secret-source",
        None,
        Repeated("SOURCE"),
        Some("K6_SECRET_SOURCE"),
        "Where k6/secrets reads: file=PATH, env[=PREFIX], url=urlTemplate=…, mock=KEY=VALUE,…; with \
         name=NAME and default",
    )
    .group(Group::Script)
    .scope(Scope::Load),
    flag("offline", None, Switch, Some("ONRUSH_OFFLINE"), "Never fetch remote modules: use those in the cache")
        .group(Group::Script)
        .scope(Scope::Load),
    flag(
        "import-timeout",
        None,
        Duration,
        Some("ONRUSH_IMPORT_TIMEOUT"),
        "Time limit for fetching one remote module (default 60s)",
    )
    .group(Group::Script)
    .scope(Scope::Load),
    flag(
        "import-ca",
        None,
        Text("FILE"),
        Some("ONRUSH_IMPORT_CA"),
        "Also trust the certificates in this file (PEM) when fetching remote modules",
    )
    .group(Group::Script)
    .scope(Scope::Load),
    flag("lock", None, Switch, None, "Write the hashes of the remote modules to onrush.lock beside the script")
        .group(Group::Script)
        .scope(Scope::Only(Command::Deps)),
    // Results.
    flag(
        "out",
        Some('o'),
        Repeated("TYPE[=ARG]"),
        Some("K6_OUT"),
        "Write the whole result to a file (result=FILE, for onrush result and compare), a line of JSON a second \
         (summary-json=FILE) or a table with a line for each series and second (summary-csv=FILE), \
         a report (junit=FILE, markdown=FILE, code-quality=FILE) or every sample (json=FILE, csv=FILE); \
         show the test in a browser (web-dashboard[=port=5665&open]); \
         push to Prometheus (prometheus-rw=URL), OpenTelemetry (opentelemetry=URL), InfluxDB (influxdb=URL), StatsD (statsd=HOST:PORT), Datadog \
         (datadog=HOST:PORT), PostgreSQL (postgres=URL) or, every sample, Kafka (kafka=brokers=HOST:PORT,topic=NAME); of json, csv, summary-json and summary-csv FILE.gz is compressed, and - is standard output; may be repeated",
    )
    .group(Group::Results),
    flag(
        "open",
        None,
        Switch,
        None,
        "Show the test in a browser ($BROWSER, else xdg-open): --out web-dashboard, opened when the test starts",
    )
    .group(Group::Results),
    flag(
        "traces-output",
        None,
        Text("WHERE"),
        Some("K6_TRACES_OUTPUT"),
        "Send a span of each HTTP request to OpenTelemetry: otel=http://host:4318, otel=host:4317 for gRPC, or otel alone \
         for 127.0.0.1:4317; after it sampling=0.1 (a part of iterations), propagator=w3c, b3, b3multi, jaeger or none, \
         header.NAME=VALUE, proto=http or grpc, with commas",
    )
    .group(Group::Results),
    flag(
        "out-share",
        None,
        Text("FRACTION"),
        Some("ONRUSH_OUT_SHARE"),
        "Write only this part of the samples, all of a request or none (0.1 is one request in ten); the \
         summary has all",
    )
    .group(Group::Results),
    flag(
        "out-local",
        None,
        Switch,
        Some("ONRUSH_OUT_LOCAL"),
        "With agents: each writes its own samples to files of its own (samples.agent-0.json), instead of sending \
         them to the coordinator",
    )
    .group(Group::Results),
    flag(
        "report",
        None,
        Text("FILE"),
        Some("ONRUSH_REPORT"),
        "Write an HTML report to FILE at the end, one file that needs no network; FILE.gz is compressed",
    )
    .group(Group::Results),
    flag(
        "output",
        Some('o'),
        Text("FILE"),
        None,
        "Write the report to FILE (default: the name of the file it is made of, with .html); FILE.gz is compressed",
    )
    .group(Group::Tool)
    .scope(Scope::Only(Command::Report)),
    flag(
        "keep",
        None,
        Switch,
        Some("ONRUSH_KEEP"),
        "Keep the whole result, in ~/.local/state/onrush/runs: onrush result show last, onrush report last",
    )
    .group(Group::Results),
    flag(
        "fail-on",
        None,
        Text("WHAT"),
        Some("ONRUSH_FAIL_ON"),
        "Fail the run as well for what no threshold sees: unjudged (thresholds), exceptions, unanswered \
         (requests), invalid, suspect (measurement); compare: unjudged (measures of thresholds, or all), invalid, suspect",
    )
    .group(Group::Results),
    flag(
        "annotations",
        None,
        Text("WHERE"),
        Some("ONRUSH_ANNOTATIONS"),
        "Tell GitHub what failed, in workflow commands and in the job summary: auto (where GITHUB_ACTIONS is true), \
         github, off (default auto)",
    )
    .group(Group::Results)
    .allowed(&["auto", "github", "off"]),
    flag("no-thresholds", None, Switch, Some("K6_NO_THRESHOLDS"), "Do not evaluate thresholds")
        .group(Group::Results)
        .scope(Scope::Load),
    flag(
        "summary-mode",
        None,
        Text("MODE"),
        Some("K6_SUMMARY_MODE"),
        "End-of-test summary: compact, full, legacy, disabled (default compact)",
    )
    .group(Group::Results)
    .scope(Scope::Load)
    .allowed(&["compact", "full", "legacy", "disabled"]),
    flag("no-summary", None, Switch, Some("K6_NO_SUMMARY"), "The same as --summary-mode=disabled")
        .group(Group::Results)
        .scope(Scope::Load),
    flag("summary-export", None, Text("FILE"), Some("K6_SUMMARY_EXPORT"), "Write the summary to FILE as JSON")
        .group(Group::Results)
        .scope(Scope::Load),
    flag(
        "new-machine-readable-summary",
        None,
        Switch,
        Some("K6_NEW_MACHINE_READABLE_SUMMARY"),
        "Use the newer JSON shape for --summary-export and handleSummary()",
    )
    .group(Group::Results)
    .scope(Scope::Load),
    // Terminal and logs.
    flag("quiet", Some('q'), Switch, None, "No banner, no progress").group(Group::Terminal).scope(Scope::All),
    flag(
        "ui",
        None,
        Text("MODE"),
        Some("ONRUSH_UI"),
        "How a terminal shows the test: board, or tui, a view of the whole screen with keys to pause, scale and abort (default board)",
    )
    .group(Group::Terminal)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator, Command::Http]))
    .allowed(&["board", "tui"]),
    flag("verbose", Some('v'), Switch, None, "Log debug lines as well").group(Group::Terminal).scope(Scope::All),
    flag("no-color", None, Switch, Some("K6_NO_COLOR"), "No colours, as with NO_COLOR")
        .group(Group::Terminal)
        .scope(Scope::All),
    flag(
        "log-output",
        None,
        Text("WHERE"),
        Some("K6_LOG_OUTPUT"),
        "Write log lines to stderr, stdout, none, file=PATH[,level=LEVEL] or loki[=URL,KEY=VALUE,…] (default \
         stderr)",
    )
    .group(Group::Terminal)
    .scope(Scope::All),
    flag(
        "log-format",
        None,
        Text("FORMAT"),
        Some("K6_LOG_FORMAT"),
        "Format of log lines: text, json, raw (default text)",
    )
    .group(Group::Terminal)
    .scope(Scope::All)
    .allowed(&["text", "json", "raw"]),
    flag(
        "config",
        Some('c'),
        Text("FILE"),
        Some("K6_CONFIG"),
        "JSON file with options; the script's take precedence (default ~/.config/onrush/config.json, else \
         k6's)",
    )
    .group(Group::Terminal)
    .scope(Scope::All),
    flag(
        "features",
        None,
        Repeated("A,B,…"),
        Some("K6_FEATURES"),
        "k6 feature flags: merge-run-tags (merge tags from all sources), freeze-env (make __ENV read-only), \
         native-histograms (always on)",
    )
    .group(Group::Script)
    .scope(Scope::Load),
    flag(
        "no-usage-report",
        None,
        Switch,
        Some("K6_NO_USAGE_REPORT"),
        "No effect, for k6 compatibility: Onrush never reports usage",
    )
    .accepted()
    .group(Group::Terminal),
    // This machine.
    flag("threads", None, Int, Some("ONRUSH_THREADS"), "Worker threads (default: available cores; for target: 1)")
        .group(Group::Machine)
        .scope(Scope::Both),
    flag(
        "vu-isolation",
        None,
        Text("LAYOUT"),
        Some("ONRUSH_VU_ISOLATION"),
        "VU layout: auto, dense (VUs share their thread's built-ins), isolated (each has its own; needed by \
         scripts that change built-ins) (default auto)",
    )
    .group(Group::Machine)
    .scope(Scope::Load)
    .allowed(&["auto", "dense", "isolated"]),
    flag(
        "vu-memory-limit",
        None,
        Text("SIZE"),
        Some("ONRUSH_VU_MEMORY_LIMIT"),
        "Maximum JavaScript heap of one VU, stored responses included, such as 64MiB (default 512MiB)",
    )
    .group(Group::Machine)
    .scope(Scope::Load),
    flag(
        "response-body-limit",
        None,
        Text("SIZE"),
        Some("ONRUSH_RESPONSE_BODY_LIMIT"),
        "Maximum size of a response body after decompression, such as 16MiB; larger ones fail the request \
         (default: a quarter of --vu-memory-limit; at most --vu-memory-limit)",
    )
    .group(Group::Machine),
    flag(
        "own-delay",
        None,
        Text("SAMPLE"),
        Some("ONRUSH_OWN_DELAY"),
        "Connections on which the kernel says when responses arrive, so that the part of latencies that is Onrush's own \
         is known: sampled (one of thirty-two), all, off (default sampled)",
    )
    .group(Group::Machine)
    .allowed(&["sampled", "all", "off"]),
    flag(
        "latency",
        None,
        Text("END"),
        Some("ONRUSH_LATENCY"),
        "Where the duration of an HTTP request ends: read (when the VU has read the response, as in k6), kernel (when the \
         kernel had its last byte, however busy the VU's thread is) (default read)",
    )
    .group(Group::Machine)
    .allowed(&["read", "kernel"]),
    flag(
        "intended-latency",
        None,
        Switch,
        Some("ONRUSH_INTENDED_LATENCY"),
        "Arrival rates: also measure iterations and HTTP requests from the start that the schedule intended \
         (iteration_intended_duration, http_req_intended_duration)",
    )
    .group(Group::Machine),
    // Agents.
    flag(
        "agents",
        None,
        Text("N"),
        Some("ONRUSH_AGENTS"),
        "run: split the test over N processes on this machine, or as many as it takes with auto; \
         with --on: on N agents there (default 1); coordinator: start when N agents have joined",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator])),
    flag(
        "on-agent-loss",
        None,
        Text("POLICY"),
        Some("ONRUSH_ON_AGENT_LOSS"),
        "When an agent is lost: fail (end the run with exit code 120), tolerate (go on with the others, and \
         call the measurement SUSPECT), rebalance (the others take up what it had to do; SUSPECT for the gap) (default fail)",
    )
    .group(Group::Agents)
    .allowed(&["fail", "tolerate", "rebalance"])
    .scope(Scope::Several(&[Command::Run, Command::Coordinator])),
    flag(
        "wait",
        None,
        Duration,
        None,
        "Time limit for agents to join or to be free, and for the coordinator to be there (default 5m)",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator, Command::Agent])),
    flag(
        "on",
        None,
        Text("HOST[:PORT]"),
        Some("ONRUSH_ON"),
        "The coordinator that serves runs: run sends the test there, the others ask it (default port 6567)",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Attach])),
    flag("run", None, Text("NUMBER"), None, "With --on: the run that is meant (default: the only one)")
        .group(Group::Agents)
        .scope(Scope::Control),
    flag(
        "user-token",
        None,
        Text("TOKEN"),
        Some("ONRUSH_USER_TOKEN"),
        "coordinator: secret that those who send and follow runs must know (default: a random one); others, with --on: \
         token that the coordinator prints. Prefer the variable: other users of this machine can see flags",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator, Command::Attach])),
    flag(
        "zone",
        None,
        Repeated("NAME=WEIGHT,…"),
        None,
        "Share the test by zones, such as eu=70,us=30: agents are those with --label zone=eu and zone=us",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator])),
    flag(
        "share",
        None,
        Text("HOW"),
        Some("ONRUSH_SHARE"),
        "What of the test an agent on another machine gets: capacity (by its cores), even (all the same) (default capacity)",
    )
    .group(Group::Agents)
    .allowed(&["capacity", "even"])
    .scope(Scope::Several(&[Command::Run, Command::Coordinator])),
    flag(
        "label",
        None,
        Repeated("NAME=VALUE"),
        None,
        "What is to be known of this agent, such as zone=eu, which also tags its samples with load_zone; may be repeated",
    )
    .group(Group::Agents)
    .scope(Scope::Only(Command::Agent)),
    flag("once", None, Switch, None, "End after one run, also where the coordinator serves many")
        .group(Group::Agents)
        .scope(Scope::Only(Command::Agent)),
    flag(
        "agent-suspect",
        None,
        Duration,
        Some("ONRUSH_AGENT_SUSPECT"),
        "Silence after which a warning names the agent, 1s or more (default 1s)",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator])),
    flag(
        "agent-silence",
        None,
        Duration,
        Some("ONRUSH_AGENT_SILENCE"),
        "Silence after which an agent is lost (default 3s)",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator])),
    flag(
        "agent-lease",
        None,
        Duration,
        Some("ONRUSH_AGENT_LEASE"),
        "How long an agent goes on making load without hearing from its coordinator; at least --agent-silence (default 5s)",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator])),
    flag(
        "journal",
        None,
        Text("FILE"),
        Some("ONRUSH_JOURNAL"),
        "Keep the run in FILE while it lasts, so that --resume can go on with it should this coordinator be killed. FILE has the \
         test and what lets agents in: others cannot read it",
    )
    .group(Group::Agents)
    .scope(Scope::Only(Command::Coordinator)),
    flag(
        "resume",
        None,
        Switch,
        None,
        "Go on with the run in --journal, whose coordinator is gone; agents wait for it as long as --agent-lease was",
    )
    .group(Group::Agents)
    .scope(Scope::Only(Command::Coordinator)),
    flag("join", None, Text("HOST[:PORT]"), Some("ONRUSH_JOIN"), "The coordinator to join, or a relay (default port 6567)")
        .group(Group::Agents)
        .scope(Scope::Several(&[Command::Agent, Command::Relay])),
    flag(
        "join-token",
        None,
        Text("TOKEN"),
        Some("ONRUSH_JOIN_TOKEN"),
        "coordinator: secret that agents must know (default: a random one); agent, relay: token that the coordinator prints. \
         Prefer the variable: other users of this machine can see flags",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Coordinator, Command::Agent, Command::Relay])),
    flag(
        "tls",
        None,
        Text("DIR"),
        Some("ONRUSH_TLS"),
        "Folder with certificate, key and authority, as onrush cluster makes them: both sides know each other by these, \
         and nobody needs a token",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Run, Command::Coordinator, Command::Agent, Command::Relay, Command::Attach])),
    flag(
        "join-tls",
        None,
        Text("DIR"),
        Some("ONRUSH_JOIN_TLS"),
        "Folder with an agent's certificate, which the relay shows the coordinator; --tls is the one it shows its agents, a \
         coordinator's",
    )
    .group(Group::Agents)
    .scope(Scope::Only(Command::Relay)),
    flag(
        "name",
        None,
        Repeated("NAME"),
        None,
        "agent, relay: what it is called in messages (default: the host's name); cluster: a name or address by which the \
         coordinator is reached, may be repeated (init adds this host's)",
    )
    .group(Group::Agents)
    .scope(Scope::Several(&[Command::Agent, Command::Relay, Command::Cluster])),
    flag("days", None, Int, None, "How long certificates are valid (default 365)")
        .group(Group::Agents)
        .scope(Scope::Only(Command::Cluster)),
    flag(
        "attached",
        None,
        Switch,
        None,
        "End as soon as standard input is closed, and leave signals to the coordinator",
    )
    .group(Group::Agents)
    .scope(Scope::Only(Command::Agent)),
    // Live control.
    flag(
        "address",
        Some('a'),
        Text("ADDRESS"),
        Some("K6_ADDRESS"),
        "Address of the test's REST API; empty for none (default localhost:6565)",
    )
    .group(Group::Control)
    .scope(Scope::All),
    flag(
        "api-token",
        None,
        Text("TOKEN"),
        Some("ONRUSH_API_TOKEN"),
        "Token that REST API requests must carry; required for addresses other machines can reach. Prefer \
         the variable: other users of this machine can see flags",
    )
    .group(Group::Control)
    .scope(Scope::RunAndControl),
    flag(
        "api-tls-cert",
        None,
        Text("FILE"),
        Some("ONRUSH_API_TLS_CERT"),
        "Serve the REST API over HTTPS with this certificate (PEM). Addresses other machines can reach \
         always use HTTPS, with a generated certificate by default",
    )
    .group(Group::Control),
    flag(
        "api-tls-key",
        None,
        Text("FILE"),
        Some("ONRUSH_API_TLS_KEY"),
        "Private key (PEM) of the REST API certificate",
    )
    .group(Group::Control),
    flag(
        "api-tls-ca",
        None,
        Text("FILE"),
        Some("ONRUSH_API_TLS_CA"),
        "Connect over HTTPS and trust the certificates in this file (PEM); to trust the system's, use \
         --address https://HOST:PORT",
    )
    .group(Group::Control)
    .scope(Scope::Control),
    flag(
        "api-fingerprint",
        None,
        Text("SHA256"),
        Some("ONRUSH_API_FINGERPRINT"),
        "Connect over HTTPS and trust the certificate with this fingerprint, which the test prints at start",
    )
    .group(Group::Control)
    .scope(Scope::Control),
    flag(
        "replay",
        None,
        Text("FILE"),
        Some("ONRUSH_REPLAY"),
        "Repeat the live changes recorded in FILE, a --summary-export or /v1/steering of another run",
    )
    .group(Group::Control),
    flag("linger", Some('l'), Switch, Some("K6_LINGER"), "Keep the REST API running after the test, until Ctrl+C")
        .group(Group::Control),
    flag("max", Some('m'), Int, None, "The maximum number of VUs (maxVUs)")
        .group(Group::Control)
        .scope(Scope::Only(Command::Scale)),
    flag(
        "rate",
        Some('r'),
        Int,
        None,
        "scale: iterations per timeUnit of an arrival-rate scenario; http: requests a second, sent on \
         schedule however slow the server is",
    )
    .group(Group::Tool)
    .scope(Scope::Several(&[Command::Scale, Command::Http])),
    flag(
        "over",
        None,
        Duration,
        None,
        "Reach the new VUs or rate evenly over this time, such as 30s (default: at once)",
    )
    .group(Group::Control)
    .scope(Scope::Only(Command::Scale)),
    flag(
        "scenario",
        None,
        Text("NAME"),
        None,
        "The scenario to change (default: the externally-controlled one, else the only one)",
    )
    .group(Group::Control)
    .scope(Scope::Only(Command::Scale)),
    // Tools around a script.
    flag("archive-out", Some('O'), Text("FILE"), None, "Write the archive to FILE; - is standard output")
        .group(Group::Tool)
        .default("archive.tar")
        .scope(Scope::Only(Command::Archive)),
    flag("exclude-env-vars", None, Switch, None, "Leave environment variables out of the archive")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Archive)),
    flag("execution-requirements", None, Switch, None, "Print the merged options and the VUs and time they need")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Inspect)),
    flag(
        "force",
        Some('f'),
        Switch,
        None,
        "new: replace FILE if it exists; run, http: start although this machine has too little memory or too \
         few open files for the test",
    )
    .group(Group::Machine)
    .scope(Scope::Several(&[Command::New, Command::Run, Command::Http])),
    flag(
        "template",
        None,
        Text("TEMPLATE"),
        None,
        "Template: minimal, protocol, browser, or the path of your own (default minimal)",
    )
    .group(Group::Tool)
    .scope(Scope::Only(Command::New))
    .allowed(&["minimal", "protocol", "browser"]),
    flag("project-id", None, Text("ID"), None, "Grafana Cloud project ID to put into the script")
        .group(Group::Tool)
        .scope(Scope::Only(Command::New)),
    flag(
        "to",
        None,
        Text("FORMAT"),
        None,
        "Format of onrush result export: json (an object a line), csv, prometheus (OpenMetrics text, for promtool)",
    )
    .group(Group::Tool)
    .default("json")
    .scope(Scope::Only(Command::Result))
    .allowed(&["json", "csv", "prometheus"]),
    flag(
        "for",
        None,
        Text("DATABASE"),
        None,
        "What the dashboard reads: prometheus-native (native histograms), prometheus (trend statistics), influxdb, or otlp \
         (OpenTelemetry by way of a Collector into Prometheus)",
    )
    .group(Group::Tool)
    .default("prometheus-native")
    .scope(Scope::Only(Command::Grafana))
    .allowed(&["prometheus-native", "prometheus", "influxdb", "otlp"]),
    flag(
        "baseline",
        None,
        Text("DIR"),
        Some("ONRUSH_BASELINE"),
        "Folder with result files of earlier runs of the same test: five or more say how much unchanged runs differ. \
         With one FILE, the latest of them is what it is compared with",
    )
    .group(Group::Tool)
    .scope(Scope::Only(Command::Compare)),
    flag(
        "margin",
        None,
        Repeated("[METRIC=]SIZE"),
        None,
        "What is too small to matter, such as 3% or http_req_failed=0.5% (of rates: percentage points); may be repeated \
         (default 5%, percentiles above 99: 10%, per second: 2%, rates: 0.1%)",
    )
    .group(Group::Tool)
    .scope(Scope::Only(Command::Compare)),
    flag(
        "against",
        None,
        Text("FILE|last"),
        None,
        "Compare with this file, or with the latest run of the same test in --baseline (without it: among the runs that were kept)",
    )
    .group(Group::Tool)
    .scope(Scope::Only(Command::Compare)),
    flag("curves", None, Switch, None, "Also how the whole distributions differ, quantile by quantile")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Compare)),
    flag(
        "warm-up",
        None,
        Duration,
        None,
        "compare: leave out so much of the start, and after each ramp (default: found from the runs); \
         capacity: run so long before each measurement (default 5s)",
    )
    .group(Group::Tool)
    .scope(Scope::Several(&[Command::Compare, Command::Capacity])),
    flag(
        "slo",
        None,
        Repeated("GOAL"),
        None,
        "What a load has to hold: a metric and a threshold on it, such as 'http_req_duration p(95)<200'; may be repeated",
    )
    .group(Group::Tool)
    .scope(Scope::Only(Command::Capacity)),
    flag("start", None, Int, None, "The first load that is tried")
        .group(Group::Tool)
        .default("10")
        .scope(Scope::Only(Command::Capacity)),
    flag("max-rate", None, Int, None, "The highest rate that is tried, in iterations a second")
        .group(Group::Tool)
        .default("100000")
        .scope(Scope::Only(Command::Capacity)),
    flag("max-vus", None, Int, None, "Search for a number of looping VUs instead of a rate, up to this one")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Capacity)),
    flag("step", None, Duration, None, "How long each load is measured")
        .group(Group::Tool)
        .default("20s")
        .scope(Scope::Only(Command::Capacity)),
    flag("precision", None, Text("SIZE"), None, "How close the load that broke has to be to the one that held")
        .group(Group::Tool)
        .default("5%")
        .scope(Scope::Only(Command::Capacity)),
    flag("state", None, Text("FILE"), None, "Keep the trials there, and go on from them if the file exists")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Capacity)),
    flag("seconds", None, Int, None, "How long each part takes")
        .group(Group::Tool)
        .default("10")
        .scope(Scope::Only(Command::Selftest)),
    flag(
        "try",
        None,
        Switch,
        None,
        "Run one iteration of the script in one VU and in eleven, and count with what a VU really took",
    )
    .group(Group::Tool)
    .scope(Scope::Only(Command::Doctor)),
    flag("fix", None, Switch, None, "Change settings of the kernel that are wrong, until the next start of the machine")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Doctor)),
    flag("yes", None, Switch, None, "Do not ask before --fix").group(Group::Tool).scope(Scope::Only(Command::Doctor)),
    flag("json", None, Switch, None, "Print JSON instead of text").group(Group::Tool).scope(Scope::Several(&[
        Command::Capacity,
        Command::Selftest,
        Command::Doctor,
        Command::Check,
        Command::Compare,
        Command::Deps,
        Command::Status,
        Command::Scenarios,
        Command::Scale,
        Command::Pause,
        Command::Resume,
        Command::Stop,
    ])),
    // One-liners.
    flag("connections", Some('c'), Int, None, "Connections, each with one request at a time (default 50)")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Http)),
    flag("requests", Some('n'), Int, None, "Stop after this many requests; without it, after --duration (default 10s)")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Http)),
    flag("method", Some('X'), Text("METHOD"), None, "HTTP method (default GET, or POST with a body)")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Http)),
    flag("header", Some('H'), Repeated("'NAME: VALUE'"), None, "Add a request header")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Http)),
    flag("body", Some('b'), Text("TEXT"), None, "Request body; @FILE reads it from a file")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Http)),
    flag("timeout", None, Duration, None, "Time limit for one request (default 60s)")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Http)),
    flag("script", None, Switch, None, "Print a k6 script with the same requests, and stop")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Http)),
    // The target.
    flag(
        "listen",
        None,
        Text("ADDRESS"),
        None,
        "target: address for HTTP (default 127.0.0.1:8080); coordinator, relay: address for agents \
         (default 0.0.0.0:6567); port 0 picks a free port",
    )
    .group(Group::Target)
    .scope(Scope::Several(&[Command::Target, Command::Coordinator, Command::Relay])),
    flag("tls-listen", None, Text("ADDRESS"), None, "Address for HTTPS, with a certificate generated at start")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-name", None, Repeated("HOST"), None, "Additional host name for the certificate, besides localhost")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("no-http2", None, Switch, None, "Speak HTTP/1.1 only (default: HTTP/2 as well, over TLS and in plain text)")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag(
        "fault-accept",
        None,
        Text("HOW"),
        None,
        "Break every plain HTTP connection once it is accepted: reset, close, stall",
    )
    .group(Group::Target)
    .scope(Scope::Only(Command::Target)),
    flag(
        "fault-handshake",
        None,
        Text("HOW[@BYTES]"),
        None,
        "Break every TLS handshake after the server has sent BYTES: reset, close, stall",
    )
    .group(Group::Target)
    .scope(Scope::Only(Command::Target)),
    flag("tls-client-ca", None, Text("FILE"), None, "Ask clients for a certificate signed by one in this PEM file")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-client-optional", None, Switch, None, "Also accept clients without a certificate")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-version", None, Repeated("VERSION"), None, "Enable this TLS version: 1.2, 1.3 (default both)")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag(
        "tls-cipher-suite",
        None,
        Repeated("NAME"),
        None,
        "Enable this cipher suite, such as TLS_AES_128_GCM_SHA256 (default all)",
    )
    .group(Group::Target)
    .scope(Scope::Only(Command::Target)),
    flag("tls-staple", None, Text("STATUS"), None, "Staple an OCSP response with this status: good, revoked, unknown")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target))
        .allowed(&["good", "revoked", "unknown"]),
    flag("tls-no-tickets", None, Switch, None, "Disable session resumption")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("certificate-out", None, Text("FILE"), None, "Write the certificate to FILE as PEM, for clients to trust")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("delay", None, Duration, None, "Wait this long before every response, such as 20ms")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("freeze", None, Duration, None, "Stand still this long every now and then, such as 2s; needs --freeze-every")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("freeze-every", None, Duration, None, "From one --freeze to the next, counted from the first request")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag(
        "record",
        None,
        Text("FILE"),
        None,
        "Write when each request arrived and how long its connection had been idle, in nanoseconds, once the target ends",
    )
    .group(Group::Target)
    .scope(Scope::Only(Command::Target)),
    flag("allow-non-loopback", None, Switch, None, "Allow addresses that other machines can reach")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    // Not in this version.
    flag("profiling-enabled", None, Switch, Some("K6_PROFILING_ENABLED"), "Serve profiles over the REST API")
        .not_yet("profiling over the REST API (--profiling-enabled)")
        .scope(Scope::All),
];
