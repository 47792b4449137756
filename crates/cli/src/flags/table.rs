//! The table itself: the options of tests as `onrush_plan` lists them, and the settings of this program.

use std::sync::LazyLock;

use onrush_plan::{Area, Kind, OPTIONS, OptionInfo};

use super::{Command, Flag, Group, Role, Scope, Value};

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
    fn of_option(option: &OptionInfo) -> Option<Self> {
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
        let (role, group) = match (NOT_YET.iter().find(|(key, _)| *key == option.key), option.area) {
            (Some((_, what)), _) => (Role::NotYet(what), Group::NotYet),
            (None, _) if option.key == "paused" => (Role::Option, Group::Control),
            (None, _) if option.key == "consoleOutput" => (Role::Option, Group::Terminal),
            (None, Area::Load) => (Role::Option, Group::Load),
            (None, Area::Script) => (Role::Option, Group::Script),
            (None, Area::Http) => (Role::Option, Group::Http),
            (None, Area::Results) => (Role::Option, Group::Results),
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
            role,
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
    LazyLock::new(|| OPTIONS.iter().filter_map(Flag::of_option).chain(SETTINGS.iter().copied()).collect());

/// Options k6 has and this version does not, and what is missing.
const NOT_YET: &[(&str, &str)] = &[];

use Value::{Duration, Int, Optional, Repeated, Switch, Text};

/// The flags that are no options of a test.
const SETTINGS: &[Flag] = &[
    // Script.
    flag("env", Some('e'), Repeated("NAME=VALUE"), None, "Set a variable of __ENV; NAME alone copies it from the environment")
        .group(Group::Script).scope(Scope::Load),
    flag(
        "include-system-env-vars",
        None,
        Switch,
        Some("K6_INCLUDE_SYSTEM_ENV_VARS"),
        "Pass this process's environment to the script (default true for run, else false)",
    )
    .group(Group::Script).scope(Scope::Load),
    flag(
        "compatibility-mode",
        None,
        Text("MODE"),
        Some("K6_COMPATIBILITY_MODE"),
        "How scripts are read: extended, base (default extended)",
    )
    .group(Group::Script).scope(Scope::Load).allowed(&["extended", "base"]),
    flag("type", Some('t'), Text("TYPE"), Some("K6_TYPE"), "What FILE is: js, archive (default: what it looks like)").group(Group::Script).scope(Scope::Load).allowed(&["js", "archive"]),
    flag(
        "secret-source",
        None,
        Repeated("SOURCE"),
        Some("K6_SECRET_SOURCE"),
        "Where k6/secrets reads: file=PATH, env[=PREFIX], url=urlTemplate=…, mock=KEY=VALUE,…; with name=NAME and default",
    )
    .group(Group::Script).scope(Scope::Load),
    // Results.
    flag(
        "out",
        Some('o'),
        Repeated("TYPE[=ARG]"),
        Some("K6_OUT"),
        "Write every sample down: json=FILE, csv=FILE; FILE.gz is compressed, - is the standard output; repeat it for more",
    )
    .group(Group::Results),
    flag("no-thresholds", None, Switch, Some("K6_NO_THRESHOLDS"), "Do not evaluate thresholds").group(Group::Results).scope(Scope::Load),
    flag(
        "summary-mode",
        None,
        Text("MODE"),
        Some("K6_SUMMARY_MODE"),
        "End-of-test summary: compact, full, legacy, disabled (default compact)",
    )
    .group(Group::Results).scope(Scope::Load).allowed(&["compact", "full", "legacy", "disabled"]),
    flag("no-summary", None, Switch, Some("K6_NO_SUMMARY"), "The same as --summary-mode=disabled").group(Group::Results).scope(Scope::Load),
    flag("summary-export", None, Text("FILE"), Some("K6_SUMMARY_EXPORT"), "Write the summary to FILE as JSON").group(Group::Results).scope(Scope::Load),
    flag(
        "new-machine-readable-summary",
        None,
        Switch,
        Some("K6_NEW_MACHINE_READABLE_SUMMARY"),
        "Use the newer JSON shape for --summary-export and handleSummary()",
    )
    .group(Group::Results).scope(Scope::Load),
    // Terminal and logs.
    flag("quiet", Some('q'), Switch, None, "No banner, no progress").group(Group::Terminal).scope(Scope::All),
    flag("verbose", Some('v'), Switch, None, "Log debug lines as well").group(Group::Terminal).scope(Scope::All),
    flag("no-color", None, Switch, Some("K6_NO_COLOR"), "No colours, as with NO_COLOR").group(Group::Terminal).scope(Scope::All),
    flag(
        "log-output",
        None,
        Text("WHERE"),
        Some("K6_LOG_OUTPUT"),
        "Where log lines go: stderr, stdout, none, file=PATH[,level=LEVEL], loki[=URL,KEY=VALUE,…] (default stderr)",
    )
    .group(Group::Terminal)
    .scope(Scope::All),
    flag("log-format", None, Text("FORMAT"), Some("K6_LOG_FORMAT"), "How log lines look: text, json, raw (default text)")
        .group(Group::Terminal)
        .scope(Scope::All).allowed(&["text", "json", "raw"]),
    flag("config", Some('c'), Text("FILE"), Some("K6_CONFIG"), "JSON file with options, below those of the script (default ~/.config/onrush/config.json, else k6's)")
        .group(Group::Terminal)
        .scope(Scope::All),
    flag(
        "features",
        None,
        Repeated("A,B,…"),
        Some("K6_FEATURES"),
        "Feature flags of k6: merge-run-tags (tags of all places together), freeze-env (__ENV cannot be changed), native-histograms (always on here)",
    )
    .group(Group::Script)
    .scope(Scope::Load),
    flag("no-usage-report", None, Switch, Some("K6_NO_USAGE_REPORT"), "Accepted for k6's sake: Onrush never reports usage")
        .accepted()
        .group(Group::Terminal),
    // This machine.
    flag("threads", None, Int, Some("ONRUSH_THREADS"), "Worker threads (default: the cores this process may use; for target: 1)")
        .group(Group::Machine)
        .scope(Scope::Both),
    flag(
        "vu-isolation",
        None,
        Text("LAYOUT"),
        Some("ONRUSH_VU_ISOLATION"),
        "VU layout: auto, dense (VUs share their thread's built-ins), isolated (each has its own; needed by scripts that change built-ins) (default auto)",
    )
    .group(Group::Machine).scope(Scope::Load).allowed(&["auto", "dense", "isolated"]),
    flag(
        "vu-memory-limit",
        None,
        Text("SIZE"),
        Some("ONRUSH_VU_MEMORY_LIMIT"),
        "JavaScript heap one VU may use, kept responses included, such as 64MiB (default 512MiB)",
    )
    .group(Group::Machine).scope(Scope::Load),
    flag(
        "response-body-limit",
        None,
        Text("SIZE"),
        Some("ONRUSH_RESPONSE_BODY_LIMIT"),
        "Largest response body that is kept, decompressed, such as 16MiB; larger ones fail their request (default 1GiB)",
    )
    .group(Group::Machine),
    // Live control.
    flag(
        "address",
        Some('a'),
        Text("ADDRESS"),
        Some("K6_ADDRESS"),
        "Where the REST API of the run is; empty for none (default localhost:6565)",
    )
    .group(Group::Control)
    .scope(Scope::All),
    flag(
        "api-token",
        None,
        Text("TOKEN"),
        Some("ONRUSH_API_TOKEN"),
        "What requests to the REST API must carry; needed for addresses that other machines reach. Other users of this machine see flags, so the variable is better",
    )
    .group(Group::Control)
    .scope(Scope::RunAndControl),
    flag(
        "api-tls-cert",
        None,
        Text("FILE"),
        Some("ONRUSH_API_TLS_CERT"),
        "Certificate (PEM) of the REST API, which then speaks HTTPS. Addresses that other machines reach always do, with a certificate made for the run if there is no other",
    )
    .group(Group::Control),
    flag("api-tls-key", None, Text("FILE"), Some("ONRUSH_API_TLS_KEY"), "Private key (PEM) of that certificate").group(Group::Control),
    flag(
        "api-tls-ca",
        None,
        Text("FILE"),
        Some("ONRUSH_API_TLS_CA"),
        "Ask over HTTPS and trust the certificates in this file (PEM); for the system's, write --address https://HOST:PORT",
    )
    .group(Group::Control)
    .scope(Scope::Control),
    flag(
        "api-fingerprint",
        None,
        Text("SHA256"),
        Some("ONRUSH_API_FINGERPRINT"),
        "Ask over HTTPS and trust the certificate with this fingerprint, which the run prints when it starts",
    )
    .group(Group::Control)
    .scope(Scope::Control),
    flag("replay", None, Text("FILE"), Some("ONRUSH_REPLAY"), "Steer the run as the one was whose --summary-export (or /v1/steering) is in FILE")
        .group(Group::Control),
    flag("linger", Some('l'), Switch, Some("K6_LINGER"), "Stay after the test, with the REST API, until Ctrl+C").group(Group::Control),
    flag("max", Some('m'), Int, None, "The limit of VUs (maxVUs)").group(Group::Control).scope(Scope::Only(Command::Scale)),
    flag("rate", None, Int, None, "Iterations per timeUnit of an arrival-rate scenario").group(Group::Control).scope(Scope::Only(Command::Scale)),
    flag("over", None, Duration, None, "How long VUs or rate take to get there, such as 30s; at once if not given")
        .group(Group::Control)
        .scope(Scope::Only(Command::Scale)),
    flag("scenario", None, Text("NAME"), None, "The scenario; the first externally-controlled one if not given")
        .group(Group::Control)
        .scope(Scope::Only(Command::Scale)),
    // Tools around a script.
    flag("archive-out", Some('O'), Text("FILE"), None, "Where the archive goes; - is the standard output")
        .group(Group::Tool)
        .default("archive.tar")
        .scope(Scope::Only(Command::Archive)),
    flag("exclude-env-vars", None, Switch, None, "Leave all variables out of the archive")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Archive)),
    flag("execution-requirements", None, Switch, None, "Print the options of all places with what they need: maxVUs, totalDuration")
        .group(Group::Tool)
        .scope(Scope::Only(Command::Inspect)),
    flag("force", Some('f'), Switch, None, "Replace FILE if there is one").group(Group::Tool).scope(Scope::Only(Command::New)),
    flag("template", None, Text("TEMPLATE"), None, "What to start from: minimal, protocol, browser, or the path of a template (default minimal)")
        .group(Group::Tool)
        .scope(Scope::Only(Command::New)).allowed(&["minimal", "protocol", "browser"]),
    flag("project-id", None, Text("ID"), None, "The project of Grafana Cloud the script is for")
        .group(Group::Tool)
        .scope(Scope::Only(Command::New)),
    flag("json", None, Switch, None, "Print JSON instead of text").group(Group::Tool).scope(Scope::Only(Command::Deps)),
    // The target.
    flag("listen", None, Text("ADDRESS"), None, "Where to answer HTTP; port 0 picks a free one (default 127.0.0.1:8080)")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-listen", None, Text("ADDRESS"), None, "Where to answer HTTPS, with a certificate made at start")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-name", None, Repeated("HOST"), None, "A host name the certificate is for, besides localhost")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("no-http2", None, Switch, None, "Speak HTTP/1.1 only; otherwise HTTP/2 as well, over TLS and in plain text")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("fault-accept", None, Text("HOW"), None, "Break every connection of the plain port as soon as it is there: reset, close, stall")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("fault-handshake", None, Text("HOW[@BYTES]"), None, "Break every TLS handshake after so many bytes of the server's: reset, close, stall")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-client-ca", None, Text("FILE"), None, "Ask clients for a certificate signed by one in this PEM file")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-client-optional", None, Switch, None, "Also answer clients that show no certificate")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-version", None, Repeated("VERSION"), None, "A TLS version to speak: 1.2, 1.3 (default both)")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-cipher-suite", None, Repeated("NAME"), None, "A cipher suite to speak, such as TLS_AES_128_GCM_SHA256 (default all)")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("tls-staple", None, Text("STATUS"), None, "Staple an OCSP response that says this of the certificate: good, revoked, unknown")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)).allowed(&["good", "revoked", "unknown"]),
    flag("tls-no-tickets", None, Switch, None, "Let no client resume its session")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("certificate-out", None, Text("FILE"), None, "Write the certificate to FILE as PEM, for clients to trust")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    flag("delay", None, Duration, None, "Wait this long before every response, such as 20ms").group(Group::Target).scope(Scope::Only(Command::Target)),
    flag("allow-non-loopback", None, Switch, None, "Allow addresses that other machines can reach")
        .group(Group::Target)
        .scope(Scope::Only(Command::Target)),
    // Not in this version.
    flag("profiling-enabled", None, Switch, Some("K6_PROFILING_ENABLED"), "Serve profiles over the REST API")
        .not_yet("profiling over the REST API (--profiling-enabled)")
        .scope(Scope::All),
    flag("traces-output", None, Text("WHERE"), Some("K6_TRACES_OUTPUT"), "Send traces there").not_yet("sending traces (--traces-output)").scope(Scope::Load),
];
