//! The table of all options: what each is called in scripts, flags and variables, what it is for, what it may be.
//!
//! Flags with their help, completions and the reference page are made from it; tests hold the readers of the tiers
//! to it.

use Area::{Http, Load, Results, Script};
use Kind::{Bool, Duration, Int, List, Mode, Table, Text};

/// One option.
#[derive(Debug, Clone, Copy)]
pub struct OptionInfo {
    /// Its key in the `options` of scripts and in the config file; for those that neither can set, what it would be.
    pub key: &'static str,
    /// Scripts and the config file can set it.
    pub in_scripts: bool,
    /// Its flag.
    pub flag: Option<FlagInfo>,
    /// Its variable.
    pub variable: Option<&'static str>,
    /// What it holds.
    pub kind: Kind,
    /// What it is when nobody sets it; empty when it is not set then.
    pub default: &'static str,
    /// All values there are, where they can be listed.
    pub allowed: &'static [&'static str],
    /// What it is for, in one sentence without its full stop.
    pub about: &'static str,
    /// What it belongs to.
    pub area: Area,
}

/// The flag of an option.
#[derive(Debug, Clone, Copy)]
pub struct FlagInfo {
    /// Long name without dashes.
    pub long: &'static str,
    /// Short name.
    pub short: Option<char>,
    /// What its value is called in help.
    pub value: &'static str,
}

/// What an option holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A duration: `"1m30s"`; in scripts, files and variables also a number of milliseconds.
    Duration,
    /// A text.
    Text,
    /// A text, or `true` for one of them.
    Mode,
    /// A list; flags repeat or have commas.
    List,
    /// An object.
    Table,
}

impl Kind {
    /// What the reference calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Bool => "switch",
            Int => "whole number",
            Duration => "duration",
            Text | Mode => "text",
            List => "list",
            Table => "object",
        }
    }
}

/// What an option belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// How much load, for how long.
    Load,
    /// What the script's functions do.
    Script,
    /// Requests and connections.
    Http,
    /// Pass or fail, and what is reported.
    Results,
}

/// One field of a scenario.
#[derive(Debug, Clone, Copy)]
pub struct ScenarioField {
    /// Its key.
    pub key: &'static str,
    /// The executors that have it; none listed are all of them.
    pub executors: &'static [&'static str],
    /// What it is when it is not set; empty when it must be.
    pub default: &'static str,
    /// What it is for.
    pub about: &'static str,
}

const fn option(key: &'static str, kind: Kind, area: Area, about: &'static str) -> OptionInfo {
    OptionInfo { key, in_scripts: true, flag: None, variable: None, kind, default: "", allowed: &[], about, area }
}

impl OptionInfo {
    const fn flag(mut self, long: &'static str, value: &'static str) -> Self {
        self.flag = Some(FlagInfo { long, short: None, value });
        self
    }

    const fn short(mut self, short: char) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.short = Some(short);
        }
        self
    }

    const fn env(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
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

    const fn not_in_scripts(mut self) -> Self {
        self.in_scripts = false;
        self
    }
}

/// All options, in the order in which they are shown.
pub const OPTIONS: &[OptionInfo] = &[
    option("vus", Int, Load, "Number of virtual users (VUs)").flag("vus", "N").short('u').env("K6_VUS").default("1"),
    option("duration", Duration, Load, "How long VUs iterate, such as 30s, 5m, 1h30m")
        .flag("duration", "DURATION")
        .short('d')
        .env("K6_DURATION"),
    option("iterations", Int, Load, "How many iterations all VUs share")
        .flag("iterations", "N")
        .short('i')
        .env("K6_ITERATIONS"),
    option("stages", List, Load, "Ramp to TARGET VUs over DURATION; repeat it for more stages")
        .flag("stage", "DURATION:TARGET")
        .short('s')
        .env("K6_STAGES"),
    option("scenarios", Table, Load, "What runs: scenarios by name, each with an executor; see below"),
    option("minIterationDuration", Duration, Load, "Shortest time from one iteration's start to the next")
        .flag("min-iteration-duration", "DURATION")
        .env("K6_MIN_ITERATION_DURATION")
        .default("0s"),
    option("rps", Int, Load, "Most HTTP requests a second over all VUs; 0 for no limit")
        .flag("rps", "N")
        .env("K6_RPS")
        .default("0"),
    option("executionSegment", Text, Load, "Run this part of the test only, such as 0:1/4")
        .flag("execution-segment", "FROM:TO")
        .default("0:1"),
    option("executionSegmentSequence", Text, Load, "Where the segments of all instances meet, such as 0,1/4,1/2,1")
        .flag("execution-segment-sequence", "A,B,…"),
    option("paused", Bool, Load, "Make all VUs, then wait for onrush resume")
        .flag("paused", "")
        .short('p')
        .env("K6_PAUSED")
        .default("false"),
    option("noSetup", Bool, Script, "Do not run setup()").flag("no-setup", "").env("K6_NO_SETUP").default("false"),
    option("noTeardown", Bool, Script, "Do not run teardown()")
        .flag("no-teardown", "")
        .env("K6_NO_TEARDOWN")
        .default("false"),
    option("setupTimeout", Duration, Script, "How long setup() may take").env("K6_SETUP_TIMEOUT").default("60s"),
    option("teardownTimeout", Duration, Script, "How long teardown() may take")
        .env("K6_TEARDOWN_TIMEOUT")
        .default("60s"),
    option("handleSummaryTimeout", Duration, Script, "How long handleSummary() may take")
        .env("K6_HANDLE_SUMMARY_TIMEOUT")
        .default("2m0s"),
    option("throw", Bool, Script, "Throw an exception when a request fails")
        .flag("throw", "")
        .short('w')
        .env("K6_THROW")
        .default("false"),
    option("cloud", Table, Script, "Settings of Grafana Cloud: kept, not used"),
    option("ext", Table, Script, "Settings of extensions: kept, not used"),
    option("maxRedirects", Int, Http, "Redirects to follow")
        .flag("max-redirects", "N")
        .env("K6_MAX_REDIRECTS")
        .default("10"),
    option("batch", Int, Http, "Parallel requests of one http.batch()")
        .flag("batch", "N")
        .env("K6_BATCH")
        .default("20"),
    option("batchPerHost", Int, Http, "Of these, to one host")
        .flag("batch-per-host", "N")
        .env("K6_BATCH_PER_HOST")
        .default("6"),
    option("userAgent", Text, Http, "The User-Agent header").flag("user-agent", "TEXT").env("K6_USER_AGENT"),
    option("discardResponseBodies", Bool, Http, "Do not keep response bodies")
        .flag("discard-response-bodies", "")
        .env("K6_DISCARD_RESPONSE_BODIES")
        .default("false"),
    option("noConnectionReuse", Bool, Http, "Open a new connection for every request")
        .flag("no-connection-reuse", "")
        .env("K6_NO_CONNECTION_REUSE")
        .default("false"),
    option("noVUConnectionReuse", Bool, Http, "Open new connections in every iteration")
        .flag("no-vu-connection-reuse", "")
        .env("K6_NO_VU_CONNECTION_REUSE")
        .default("false"),
    option(
        "http2PriorKnowledge",
        Bool,
        Http,
        "Speak HTTP/2 with http:// servers, which must expect it (https:// servers choose by themselves)",
    )
    .flag("http2-prior-knowledge", "")
    .env("ONRUSH_HTTP2_PRIOR_KNOWLEDGE")
    .default("false"),
    option("noCookiesReset", Bool, Http, "Keep a VU's cookies from one iteration to the next")
        .env("K6_NO_COOKIES_RESET")
        .default("false"),
    option("insecureSkipTLSVerify", Bool, Http, "Accept any TLS certificate")
        .flag("insecure-skip-tls-verify", "")
        .env("K6_INSECURE_SKIP_TLS_VERIFY")
        .default("false"),
    option(
        "tlsSessionResumption",
        Bool,
        Http,
        "Have a VU's new connections resume its TLS sessions, as a browser's do",
    )
    .flag("tls-session-resumption", "")
    .env("ONRUSH_TLS_SESSION_RESUMPTION")
    .default("false"),
    option("tlsVersion", Text, Http, "The TLS version, or an object with min and max")
        .allowed(&["tls1.0", "tls1.1", "tls1.2", "tls1.3"]),
    option("tlsCipherSuites", List, Http, "The cipher suites, by the names Go has for them")
        .env("K6_TLS_CIPHER_SUITES"),
    option("tlsAuth", List, Http, "Client certificates: objects with cert, key and domains").env("K6_TLSAUTH"),
    option("dns", Table, Http, "Name resolution: how long answers are kept, which address is taken")
        .flag("dns", "KEY=VALUE,…")
        .env("K6_DNS")
        .default("ttl=5m,select=random,policy=preferIPv4"),
    option("hosts", Table, Http, "Addresses for host names, asked before the DNS; * may lead").env("K6_HOSTS"),
    option("blacklistIPs", List, Http, "Refuse to connect to these addresses")
        .flag("blacklist-ip", "CIDR")
        .env("K6_BLACKLIST_IPS"),
    option("blockHostnames", List, Http, "Refuse to connect to these hosts; * may lead")
        .flag("block-hostnames", "PATTERN")
        .env("K6_BLOCK_HOSTNAMES"),
    option("httpDebug", Mode, Http, "Log requests and responses").flag("http-debug", "full").env("K6_HTTP_DEBUG"),
    option("localIPs", Text, Http, "Addresses VUs connect from")
        .flag("local-ips", "IPS")
        .env("K6_LOCAL_IPS")
        .not_in_scripts(),
    option("thresholds", Table, Results, "What decides whether the test passed: expressions by metric")
        .env("K6_THRESHOLDS"),
    option("tags", Table, Results, "Tag every sample of the run").flag("tag", "NAME=VALUE").env("K6_TAGS"),
    option("systemTags", List, Results, "The tags samples get by themselves")
        .flag("system-tags", "A,B,…")
        .env("K6_SYSTEM_TAGS"),
    option(
        "cardinalityLimit",
        Int,
        Results,
        "Time series to keep apart; beyond, values of the tag that has most are counted together",
    )
    .flag("cardinality-limit", "N")
    .env("ONRUSH_CARDINALITY_LIMIT")
    .default("100000"),
    option("summaryTrendStats", List, Results, "Columns of trends in the summary; also count, p(N)")
        .flag("summary-trend-stats", "A,B,…")
        .env("K6_SUMMARY_TREND_STATS")
        .default("avg,min,med,max,p(90),p(95)"),
    option("summaryTimeUnit", Text, Results, "Unit of times in the summary; whatever fits if not set")
        .flag("summary-time-unit", "UNIT")
        .env("K6_SUMMARY_TIME_UNIT")
        .allowed(&["s", "ms", "us"]),
    option("metricSamplesBufferSize", Int, Results, "Samples k6 keeps between VUs and outputs: kept, not used")
        .env("K6_METRIC_SAMPLES_BUFFER_SIZE")
        .default("1000"),
    option("consoleOutput", Text, Results, "Write what the script logs with console.* to FILE")
        .flag("console-output", "FILE")
        .env("K6_CONSOLE_OUTPUT")
        .not_in_scripts(),
];

const VUS: &[&str] = &["shared-iterations", "per-vu-iterations", "constant-vus", "externally-controlled"];
const ARRIVAL: &[&str] = &["constant-arrival-rate", "ramping-arrival-rate"];
const ITERATIONS: &[&str] = &["shared-iterations", "per-vu-iterations"];
const DURATION: &[&str] = &["constant-vus", "constant-arrival-rate", "externally-controlled"];
const RAMPING: &[&str] = &["ramping-vus", "ramping-arrival-rate"];

const fn field(
    key: &'static str,
    executors: &'static [&'static str],
    default: &'static str,
    about: &'static str,
) -> ScenarioField {
    ScenarioField { key, executors, default, about }
}

/// The fields of scenarios.
pub const SCENARIO_FIELDS: &[ScenarioField] = &[
    field("executor", &[], "", "What makes its iterations: one of the executors of this table"),
    field("exec", &[], "default", "The exported function VUs call"),
    field("startTime", &[], "0s", "When it starts, from the start of the test"),
    field("gracefulStop", &[], "30s", "How long iterations may go on after its end"),
    field("env", &[], "none", "Variables laid over __ENV"),
    field("tags", &[], "none", "Tags for its samples"),
    field("options", &[], "none", "Settings of the browser module: kept, not used"),
    field("vus", VUS, "1", "VUs; for externally-controlled those at its start"),
    field("iterations", ITERATIONS, "1", "Iterations: in all, or of each VU"),
    field("maxDuration", ITERATIONS, "10m0s", "When it ends at the latest"),
    field("duration", DURATION, "", "How long it takes; 0 is for ever where it is externally controlled"),
    field("startVUs", &["ramping-vus"], "1", "VUs at its start"),
    field("startRate", &["ramping-arrival-rate"], "0", "Rate at its start"),
    field("stages", RAMPING, "", "Objects with duration and target, one after another"),
    field("gracefulRampDown", &["ramping-vus"], "30s", "How long an iteration may go on when its VU is taken away"),
    field("rate", &["constant-arrival-rate"], "", "Iterations per timeUnit"),
    field("timeUnit", ARRIVAL, "1s", "What rates count per"),
    field("preAllocatedVUs", ARRIVAL, "", "VUs made before the test"),
    field(
        "maxVUs",
        &["constant-arrival-rate", "ramping-arrival-rate", "externally-controlled"],
        "preAllocatedVUs or vus",
        "VUs it may have at most",
    ),
];
