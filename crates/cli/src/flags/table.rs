//! The table itself.

use super::{Flag, Group, Role, Scope, Value};

const fn flag(
    long: &'static str,
    short: Option<char>,
    value: Value,
    env: Option<&'static str>,
    help: &'static str,
) -> Flag {
    Flag { long, short, value, env, help, group: Group::Load, role: Role::Option, scope: Scope::Run }
}

impl Flag {
    const fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    const fn setting(mut self) -> Self {
        self.role = Role::Setting;
        self
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

use Value::{Duration, Int, Optional, Repeated, Switch, Text};

/// All flags, in the order help shows them within their groups.
pub(crate) const FLAGS: &[Flag] = &[
    // Load.
    flag("vus", Some('u'), Int, Some("K6_VUS"), "Number of virtual users (VUs)").scope(Scope::RunAndScale),
    flag("duration", Some('d'), Duration, Some("K6_DURATION"), "How long VUs iterate, such as 30s, 5m, 1h30m"),
    flag("iterations", Some('i'), Int, Some("K6_ITERATIONS"), "How many iterations all VUs share"),
    flag(
        "stage",
        Some('s'),
        Repeated("DURATION:TARGET"),
        Some("K6_STAGES"),
        "Ramp to TARGET VUs over DURATION; repeat it for more stages",
    ),
    flag("min-iteration-duration", None, Duration, Some("K6_MIN_ITERATION_DURATION"), "Shortest time from one iteration's start to the next"),
    flag("rps", None, Int, Some("K6_RPS"), "Most HTTP requests a second over all VUs; 0 for no limit"),
    flag("execution-segment", None, Text("FROM:TO"), None, "Run this part of the test only, such as 0:1/4"),
    flag(
        "execution-segment-sequence",
        None,
        Text("A,B,…"),
        None,
        "Where the segments of all instances meet, such as 0,1/4,1/2,1",
    ),
    // Script.
    flag("env", Some('e'), Repeated("NAME=VALUE"), None, "Set a variable of __ENV; NAME alone copies it from the environment")
        .setting()
        .group(Group::Script),
    flag(
        "include-system-env-vars",
        None,
        Switch,
        Some("K6_INCLUDE_SYSTEM_ENV_VARS"),
        "Pass this process's environment to the script (default true)",
    )
    .setting()
    .group(Group::Script),
    flag(
        "compatibility-mode",
        None,
        Text("MODE"),
        Some("K6_COMPATIBILITY_MODE"),
        "How scripts are read: extended, base (default extended)",
    )
    .setting()
    .group(Group::Script),
    flag("type", Some('t'), Text("TYPE"), Some("K6_TYPE"), "What FILE is: js").setting().group(Group::Script),
    flag(
        "secret-source",
        None,
        Repeated("SOURCE"),
        Some("K6_SECRET_SOURCE"),
        "Where k6/secrets reads: file=PATH, env[=PREFIX], url=urlTemplate=…, mock=KEY=VALUE,…; with name=NAME and default",
    )
    .setting()
    .group(Group::Script),
    flag("no-setup", None, Switch, Some("K6_NO_SETUP"), "Do not run setup()").group(Group::Script),
    flag("no-teardown", None, Switch, Some("K6_NO_TEARDOWN"), "Do not run teardown()").group(Group::Script),
    flag("throw", Some('w'), Switch, Some("K6_THROW"), "Throw an exception when a request fails").group(Group::Script),
    // Requests and connections.
    flag("max-redirects", None, Int, Some("K6_MAX_REDIRECTS"), "Redirects to follow (default 10)").group(Group::Http),
    flag("batch", None, Int, Some("K6_BATCH"), "Parallel requests of one http.batch() (default 20)").group(Group::Http),
    flag("batch-per-host", None, Int, Some("K6_BATCH_PER_HOST"), "Of these, to one host (default 6)").group(Group::Http),
    flag("user-agent", None, Text("TEXT"), Some("K6_USER_AGENT"), "The User-Agent header").group(Group::Http),
    flag("discard-response-bodies", None, Switch, Some("K6_DISCARD_RESPONSE_BODIES"), "Do not keep response bodies").group(Group::Http),
    flag("no-connection-reuse", None, Switch, Some("K6_NO_CONNECTION_REUSE"), "Open a new connection for every request").group(Group::Http),
    flag("no-vu-connection-reuse", None, Switch, Some("K6_NO_VU_CONNECTION_REUSE"), "Open new connections in every iteration")
        .group(Group::Http),
    flag("insecure-skip-tls-verify", None, Switch, Some("K6_INSECURE_SKIP_TLS_VERIFY"), "Accept any TLS certificate").group(Group::Http),
    flag(
        "dns",
        None,
        Text("KEY=VALUE,…"),
        Some("K6_DNS"),
        "Name resolution (default ttl=5m,select=random,policy=preferIPv4)",
    )
    .group(Group::Http),
    flag("blacklist-ip", None, Repeated("CIDR"), Some("K6_BLACKLIST_IPS"), "Refuse to connect to these addresses").group(Group::Http),
    flag("block-hostnames", None, Repeated("PATTERN"), Some("K6_BLOCK_HOSTNAMES"), "Refuse to connect to these hosts; * may lead")
        .group(Group::Http),
    // Results.
    flag(
        "out",
        Some('o'),
        Repeated("TYPE[=ARG]"),
        Some("K6_OUT"),
        "Write every sample down: json=FILE, csv=FILE; FILE.gz is compressed, - is the standard output; repeat it for more",
    )
    .setting()
    .group(Group::Results),
    flag("tag", None, Repeated("NAME=VALUE"), Some("K6_TAGS"), "Tag every sample of the run").group(Group::Results),
    flag("system-tags", None, Repeated("A,B,…"), Some("K6_SYSTEM_TAGS"), "The tags samples get by themselves").group(Group::Results),
    flag(
        "cardinality-limit",
        None,
        Int,
        Some("ONRUSH_CARDINALITY_LIMIT"),
        "Time series to keep apart; beyond, values of the tag that has most are counted together (default 100000)",
    )
    .group(Group::Results),
    flag("no-thresholds", None, Switch, Some("K6_NO_THRESHOLDS"), "Do not evaluate thresholds").setting().group(Group::Results),
    flag(
        "summary-mode",
        None,
        Text("MODE"),
        Some("K6_SUMMARY_MODE"),
        "End-of-test summary: compact, full, legacy, disabled (default compact)",
    )
    .setting()
    .group(Group::Results),
    flag("no-summary", None, Switch, Some("K6_NO_SUMMARY"), "The same as --summary-mode=disabled").setting().group(Group::Results),
    flag(
        "summary-trend-stats",
        None,
        Repeated("A,B,…"),
        Some("K6_SUMMARY_TREND_STATS"),
        "Columns of trends (default avg,min,med,max,p(90),p(95); also count, p(N))",
    )
    .group(Group::Results),
    flag("summary-time-unit", None, Text("UNIT"), Some("K6_SUMMARY_TIME_UNIT"), "Unit of times: s, ms, us (default: whatever fits)")
        .group(Group::Results),
    flag("summary-export", None, Text("FILE"), Some("K6_SUMMARY_EXPORT"), "Write the summary to FILE as JSON").setting().group(Group::Results),
    flag(
        "new-machine-readable-summary",
        None,
        Switch,
        Some("K6_NEW_MACHINE_READABLE_SUMMARY"),
        "Use the newer JSON shape for --summary-export and handleSummary()",
    )
    .setting()
    .group(Group::Results),
    // Terminal and logs.
    flag("quiet", Some('q'), Switch, None, "No banner, no progress").setting().group(Group::Terminal).scope(Scope::All),
    flag("verbose", Some('v'), Switch, None, "Log debug lines as well").setting().group(Group::Terminal).scope(Scope::All),
    flag("no-color", None, Switch, Some("K6_NO_COLOR"), "No colours, as with NO_COLOR").setting().group(Group::Terminal).scope(Scope::All),
    flag(
        "log-output",
        None,
        Text("WHERE"),
        Some("K6_LOG_OUTPUT"),
        "Where log lines go: stderr, stdout, none, file=PATH[,level=LEVEL], loki[=URL,KEY=VALUE,…] (default stderr)",
    )
    .setting()
    .group(Group::Terminal)
    .scope(Scope::All),
    flag("log-format", None, Text("FORMAT"), Some("K6_LOG_FORMAT"), "How log lines look: text, json, raw (default text)")
        .setting()
        .group(Group::Terminal)
        .scope(Scope::All),
    flag("console-output", None, Text("FILE"), Some("K6_CONSOLE_OUTPUT"), "Write what the script logs with console.* to FILE")
        .group(Group::Terminal),
    flag("config", Some('c'), Text("FILE"), Some("K6_CONFIG"), "JSON file with options, below those of the script (default ~/.config/onrush/config.json, else k6's)")
        .setting()
        .group(Group::Terminal)
        .scope(Scope::All),
    flag("no-usage-report", None, Switch, Some("K6_NO_USAGE_REPORT"), "Accepted for k6's sake: Onrush never reports usage")
        .accepted()
        .group(Group::Terminal),
    // This machine.
    flag("threads", None, Int, Some("ONRUSH_THREADS"), "Worker threads (default: the cores this process may use; for target: 1)")
        .setting()
        .group(Group::Machine)
        .scope(Scope::Both),
    flag(
        "vu-isolation",
        None,
        Text("LAYOUT"),
        Some("ONRUSH_VU_ISOLATION"),
        "VU layout: auto, dense (VUs share their thread's built-ins), isolated (each has its own; needed by scripts that change built-ins) (default auto)",
    )
    .setting()
    .group(Group::Machine),
    flag(
        "vu-memory-limit",
        None,
        Text("SIZE"),
        Some("ONRUSH_VU_MEMORY_LIMIT"),
        "JavaScript heap one VU may use, such as 64MiB (default 512MiB)",
    )
    .setting()
    .group(Group::Machine),
    // Live control.
    flag(
        "address",
        Some('a'),
        Text("ADDRESS"),
        Some("K6_ADDRESS"),
        "Where the REST API of the run is; empty for none (default localhost:6565)",
    )
    .setting()
    .group(Group::Control)
    .scope(Scope::All),
    flag(
        "api-token",
        None,
        Text("TOKEN"),
        Some("ONRUSH_API_TOKEN"),
        "What requests to the REST API must carry; needed for addresses that other machines reach. Other users of this machine see flags, so the variable is better",
    )
    .setting()
    .group(Group::Control)
    .scope(Scope::RunAndControl),
    flag("paused", Some('p'), Switch, Some("K6_PAUSED"), "Make all VUs, then wait for onrush resume").group(Group::Control),
    flag("linger", Some('l'), Switch, Some("K6_LINGER"), "Stay after the test, with the REST API, until Ctrl+C").setting().group(Group::Control),
    flag("max", Some('m'), Int, None, "The limit of VUs (maxVUs)").setting().group(Group::Control).scope(Scope::Scale),
    flag("rate", None, Int, None, "Iterations per timeUnit of an arrival-rate scenario").setting().group(Group::Control).scope(Scope::Scale),
    flag("scenario", None, Text("NAME"), None, "The scenario; the first externally-controlled one if not given")
        .setting()
        .group(Group::Control)
        .scope(Scope::Scale),
    // The target.
    flag("listen", None, Text("ADDRESS"), None, "Where to answer HTTP; port 0 picks a free one (default 127.0.0.1:8080)")
        .setting()
        .group(Group::Target)
        .scope(Scope::Target),
    flag("tls-listen", None, Text("ADDRESS"), None, "Where to answer HTTPS, with a certificate made at start")
        .setting()
        .group(Group::Target)
        .scope(Scope::Target),
    flag("tls-name", None, Repeated("HOST"), None, "A host name the certificate is for, besides localhost")
        .setting()
        .group(Group::Target)
        .scope(Scope::Target),
    flag("certificate-out", None, Text("FILE"), None, "Write the certificate to FILE as PEM, for clients to trust")
        .setting()
        .group(Group::Target)
        .scope(Scope::Target),
    flag("delay", None, Duration, None, "Wait this long before every response, such as 20ms").setting().group(Group::Target).scope(Scope::Target),
    flag("allow-non-loopback", None, Switch, None, "Allow addresses that other machines can reach")
        .setting()
        .group(Group::Target)
        .scope(Scope::Target),
    // Not in this version.
    flag("profiling-enabled", None, Switch, Some("K6_PROFILING_ENABLED"), "Serve profiles over the REST API")
        .not_yet("profiling over the REST API (--profiling-enabled)")
        .scope(Scope::All),
    flag("traces-output", None, Text("WHERE"), Some("K6_TRACES_OUTPUT"), "Send traces there").not_yet("sending traces (--traces-output)"),
    flag("features", None, Repeated("A,B,…"), Some("K6_FEATURES"), "Switch on feature flags").not_yet("switching on feature flags (--features)"),
    flag("http-debug", None, Optional("full"), Some("K6_HTTP_DEBUG"), "Log requests and responses").not_yet("logging requests (--http-debug)"),
    flag("local-ips", None, Text("IPS"), Some("K6_LOCAL_IPS"), "Addresses VUs connect from").not_yet("choosing local addresses (--local-ips)"),
];
