//! `--help`: what the commands and flags are for, from the table, with examples to start from.

use super::{Command, FLAGS, Flag, Group, Role, Value};

/// Columns of the left side; what is longer has a line of its own.
const LEFT: usize = 34;
/// Text is not set wider than this, however wide the terminal is.
const WIDTH_MAX: usize = 110;
/// Nor narrower than this.
const WIDTH_MIN: usize = 60;

/// Help on a command, or on the program, for a terminal of so many columns.
pub(super) fn help(command: Option<Command>, columns: usize) -> String {
    let width = columns.clamp(WIDTH_MIN, WIDTH_MAX);
    match command {
        None | Some(Command::Help) => ROOT.to_owned(),
        Some(Command::Version) => "Print the version.\n\nUsage:\n  onrush version\n".to_owned(),
        Some(Command::Run) => format!("{RUN}{}\n{RUN_END}", flags(Command::Run, width)),
        Some(Command::Scale) => format!("{SCALE}{}\n{SCALE_END}", flags(Command::Scale, width)),
        Some(Command::Target) => {
            format!("{TARGET}{}\n{}\n{TARGET_END}", flags(Command::Target, width), onrush_testsite::ENDPOINTS)
        }
        Some(Command::Http) => format!("{HTTP}{}\n{HTTP_END}", flags(Command::Http, width)),
        Some(command) if command.is_control() => {
            let (name, what) = (command.name(), asked(command));
            format!("{what}\n\nUsage:\n  onrush {name} [FLAGS]\n{}", flags(command, width))
        }
        Some(command) => {
            let (usage, end) = tool(command);
            let (about, name) = (command.about(), command.name());
            format!("{about}.\n\nUsage:\n  onrush {name} {usage}\n{}\n{end}", flags(command, width))
        }
    }
}

fn flags(command: Command, width: usize) -> String {
    // A running scenario has VUs in another sense than options do.
    let steering = |flag: &Flag| match (command, flag.long) {
        (Command::Scale, "vus") => {
            Flag { group: Group::Control, help: "The number of VUs", default: "", env: None, ..*flag }
        }
        (Command::Capacity, "vus") => Flag {
            help: "VUs a rate may take at most; it gets two for each iteration a second",
            default: "50000",
            ..*flag
        },
        (Command::Coordinator, "listen") => Flag {
            group: Group::Agents,
            help: "Address for agents; port 0 picks a free port (default 0.0.0.0:6567)",
            ..*flag
        },
        _ => *flag,
    };
    let taken: Vec<Flag> = FLAGS.iter().filter(|flag| command.takes(flag)).map(steering).collect();
    let mut groups: Vec<Group> = taken.iter().map(|flag| flag.group).collect();
    groups.sort_unstable();
    groups.dedup();
    // The command's own flags first.
    if command == Command::Target {
        groups.sort_by_key(|group| *group != Group::Target);
    } else if groups.contains(&Group::Tool) {
        groups.sort_by_key(|group| *group != Group::Tool);
    } else if matches!(
        command,
        Command::Coordinator | Command::Agent | Command::Relay | Command::Attach | Command::Cluster
    ) {
        groups.sort_by_key(|group| *group != Group::Agents);
    } else if command.is_control() {
        groups.sort_by_key(|group| *group != Group::Control);
    }
    let mut text = String::new();
    for group in groups {
        let members = taken.iter().filter(|flag| flag.group == group);
        text.push_str(&format!("\n{}:\n", group.heading()));
        if group == Group::NotYet {
            let names: Vec<String> = members
                .map(|flag| flag.short.map_or_else(String::new, |short| format!("-{short}/")) + "--" + flag.long)
                .collect();
            text.push_str(&wrapped(&names.join(", "), 2, width));
        } else {
            members.for_each(|flag| text.push_str(&entry(flag, command, width)));
        }
    }
    text
}

impl Flag {
    /// The long name and what it takes, as help and reference write them: `--out TYPE[=ARG]`.
    pub(crate) fn with_value(&self) -> String {
        let value = match self.value {
            Value::Switch => String::new(),
            Value::Int => " N".to_owned(),
            Value::Duration => " DURATION".to_owned(),
            Value::Text(name) | Value::Repeated(name) => format!(" {name}"),
            Value::Optional(name) => format!("[={name}]"),
        };
        format!("--{}{value}", self.long)
    }
}

/// One flag: names on the left, what it does on the right.
fn entry(flag: &Flag, command: Command, width: usize) -> String {
    let short = flag.short_for(command).map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
    let left = format!("  {short}{}", flag.with_value());
    let mut right = flag.help.to_owned();
    // Some sentences list their values themselves.
    if !flag.allowed.is_empty() && !flag.allowed.iter().all(|value| right.contains(value)) {
        right.push_str(&format!(": {}", flag.allowed.join(", ")));
    }
    if !flag.default.is_empty() {
        right.push_str(&format!(" (default {})", flag.default));
    }
    if let (Some(env), true) = (flag.env, flag.role != Role::Accepted) {
        right.push_str(&format!(" [{env}]"));
    }
    let right = wrapped(&right, LEFT + 2, width);
    if left.chars().count() <= LEFT {
        // The first line's indent is the left side.
        format!("{left:<indent$}{}", right.trim_start(), indent = LEFT + 2)
    } else {
        format!("{left}\n{right}")
    }
}

/// Lines of at most `width` columns, each with this indent and a line break.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.into_iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// The arguments of a tool around a script, and examples.
fn tool(command: Command) -> (&'static str, &'static str) {
    match command {
        Command::Check => ("[FLAGS] FILE|-", CHECK_END),
        Command::Doctor => ("[FLAGS] [FILE]", DOCTOR_END),
        Command::Selftest => ("[FLAGS]", SELFTEST_END),
        Command::Capacity => ("--slo GOAL [FLAGS] FILE", CAPACITY_END),
        Command::Archive => ("[FLAGS] FILE|-", ARCHIVE_END),
        Command::Inspect => ("[FLAGS] FILE|-", INSPECT_END),
        Command::New => ("[FLAGS] [FILE]", NEW_END),
        Command::Deps => ("[FLAGS] FILE|-", DEPS_END),
        Command::Result => (
            "show|export [FLAGS] FILE\n  onrush result list [FLAGS]\n  onrush result recover [FLAGS] JOURNAL [UNHEARD]...",
            RESULT_END,
        ),
        Command::Report => ("[FLAGS] FILE", REPORT_END),
        Command::Compare => ("[FLAGS] [BEFORE] AFTER", COMPARE_END),
        Command::Grafana => ("export [FLAGS]", GRAFANA_END),
        Command::Coordinator => ("[FLAGS]\n  onrush coordinator --agents N [FLAGS] FILE|-", COORDINATOR_END),
        Command::Agent => ("--join HOST[:PORT] [FLAGS]", AGENT_END),
        Command::Relay => ("--join HOST[:PORT] [FLAGS]", RELAY_END),
        Command::Attach => ("--on HOST[:PORT] [FLAGS] [RUN]", ATTACH_END),
        Command::Cluster => ("init [DIR] | add coordinator|agent|user NAME [DIR] | renew NAME [DIR]", CLUSTER_END),
        Command::Completion => ("bash|fish|powershell|zsh", COMPLETION_END),
        // Those with a text of their own.
        _ => ("[FLAGS]", ""),
    }
}

/// What a command that asks a run is for.
fn asked(command: Command) -> &'static str {
    match command {
        Command::Stats => "Show the metrics of the running test.",
        Command::Pause => {
            "Pause the running test: before its start any test, later only one with externally-controlled scenarios."
        }
        Command::Resume => "Resume a paused test.",
        Command::Scenarios => "List the scenarios of the running test: executor, VUs, rate, whether they are over.",
        Command::Stop => "Stop the running test. teardown() and the summary follow; its exit code is 103.",
        _ => "Show the status of the running test: phase, VUs, thresholds, scenarios.",
    }
}

const COORDINATOR_END: &str = "\
With a script it prints the line that agents are started with, waits for all of them, and runs the test as onrush run does.
Without one it serves runs until Ctrl+C: agents stay, and whoever has the user token sends tests with onrush run --on. Runs
wait until their agents are free, in the order they came.

Examples:
  onrush coordinator                                                 serve runs
  onrush coordinator --agents 3 script.js
  onrush coordinator --agents 2 --listen 127.0.0.1:6567 script.js    agents of this machine, not encrypted
";

const AGENT_END: &str = "\
Tests come from the coordinator, with their modules, files, variables and options. The agent ends with the test of a coordinator
that has one. With one that serves runs it stays, and has a process of its own for each.

Examples:
  ONRUSH_JOIN_TOKEN=... onrush agent --join loadgen-1
  onrush agent --tls agent --join loadgen-1 --label zone=eu
";

const RELAY_END: &str = "\
Agents join the relay as they would join the coordinator, which knows each of them all the same: only the samples of a second are
added up to one message. The relay stays until Ctrl+C and connects again when the coordinator was restarted.

Examples:
  ONRUSH_JOIN_TOKEN=... onrush relay --join loadgen-1
  onrush relay --tls relay --join-tls agent --join loadgen-1 --listen 0.0.0.0:6567
";

const ATTACH_END: &str = "\
Without RUN it lists runs and agents. With one it shows all that the run has said and says, and ends with its exit code; Ctrl+C
asks the run to end. Files of the run are written below the current folder only.

Examples:
  ONRUSH_USER_TOKEN=... onrush attach --on loadgen-1
  ONRUSH_USER_TOKEN=... onrush attach --on loadgen-1 3
";

const CLUSTER_END: &str = "\
DIR is onrush-cluster unless it is said. DIR/ca has the authority and should not leave its machine; DIR/NAME has what one
coordinator, agent or user needs, and is named with --tls where it is used. A role's certificate is good for that role only.

Examples:
  onrush cluster init --name loadgen-1 --name 10.0.0.5   an authority, a coordinator, an agent, a user
  onrush cluster add agent eu-1                          one more agent
  onrush cluster renew coordinator                       a new certificate and key for a year
";

const SCALE: &str = "\
Change the VUs or the rate of a running scenario. Numbers are for the whole test, as in options.

Usage:
  onrush scale [FLAGS]
";

const SCALE_END: &str = "\
Examples:
  onrush scale --vus 20                      the externally-controlled scenario, or the only one
  onrush scale --scenario browse --vus 50    any scenario with VUs
  onrush scale --scenario api --rate 200     any scenario with an arrival rate
  onrush scale --scenario api --rate 200 --over 30s
                                             the same, reached evenly over 30 seconds
  onrush scenarios                           lists them
";

const HTTP: &str = "\
Load one URL without writing a script. The command writes a k6 script and runs it like any other; --script prints it.

Usage:
  onrush http [FLAGS] URL
";

const HTTP_END: &str = "\
Without --rate each connection sends its next request when the last one is answered. With --rate requests start on
schedule, so a server that stalls cannot hide it: latency is then also reported from the intended start.

Examples:
  onrush http http://127.0.0.1:8080                            50 connections for 10 seconds
  onrush http https://host/api -c 100 -n 10000                 10,000 requests over 100 connections
  onrush http http://host/ --rate 1000 -d 1m                   1,000 requests a second for a minute
  onrush http http://host/items -H 'content-type: application/json' -b '{\"id\":1}'
  onrush http http://host/ --rate 200 --script > test.js       a script to extend
";

const CHECK_END: &str = "\
Runs init code, then checks options, thresholds, modules and output paths, and estimates the VUs, memory and open files
the test needs. Takes the flags of run; sends no request and creates no VU. Exit codes are those of run: 0 when the test
can start, 104 for invalid options or thresholds, 107 for an error in the script, 255 for anything else.

Examples:
  onrush check script.js
  onrush check -u 5000 --summary-export out/result.json script.js
  onrush check --json script.js
";

const CAPACITY_END: &str = "\
Runs the function of the script's first scenario at one load after the other: twice the load until a goal is not held, then in
between, then the result again. Each load is a run of its own with a warm-up that does not count; after a load that broke a
goal, a low load is repeated until the goals hold again. Takes the flags of run. Exit codes: 0 when the highest load is known
or even the limit held, 80 when this generator was the limit or trials contradict each other, 99 when no load held or the
system did not recover, 255 for trials that cannot be run.

Examples:
  onrush capacity --slo 'http_req_duration p(95)<200' --slo 'http_req_failed rate<0.01' script.js
  onrush capacity --slo 'http_req_duration{name:search} p(99)<500' --max-rate 2000 --step 1m script.js
  onrush capacity --slo 'http_req_duration p(95)<200' --max-vus 5000 script.js     VUs in a loop instead of a rate
  onrush capacity --slo 'http_req_duration p(95)<200' --state search.json script.js    goes on if it was cut
";

const SELFTEST_END: &str = "\
Measures, against the built-in target on this machine: the highest rate and its CPU per request, the latency that is added to
a server that answers after 10 ms, at 20, 50, 100 and 250 connections, how late timers are, and the memory of a VU with a
connection. Server and generator share the machine's cores: what is left for one of them is less than without the other.

Examples:
  onrush selftest
  onrush selftest --seconds 2      in a hurry
  onrush selftest --json
";

const DOCTOR_END: &str = "\
Looks at limits on files and ports, the firewall's table, buffers, cores, quotas, other programs, memory, swap, network
interfaces, clocks and names, and says what will fail at which number of VUs, and the commands that mend it. With a script
it counts with what that needs, else with a large test of 30,000 VUs. Takes the flags of run. Sends no request, unless --try
is given. Exit code 255 when something would make the test fail.

Examples:
  onrush doctor
  onrush doctor script.js
  onrush doctor --try script.js          memory of a VU is measured, not estimated
  sudo onrush doctor --fix script.js     settings of the kernel that can be changed now, until the next start
  onrush doctor --json -u 50000 script.js
";

const ARCHIVE_END: &str = "\
The archive holds the merged options of config file, script, variables and flags. k6 can run it, too.

Examples:
  onrush archive -u 10 -d 10s script.js    archive.tar
  onrush run archive.tar                   anywhere, without the files it was made from
";

const INSPECT_END: &str = "\
Examples:
  onrush inspect script.js
  onrush inspect --execution-requirements archive.tar
";

const NEW_END: &str = "\
FILE defaults to script.js. Your own template may contain {{ .ScriptName }} and {{ .ProjectID }}.

Examples:
  onrush new
  onrush new --template protocol checkout.js
";

const DEPS_END: &str = "\
Only imports are listed, not require().

Examples:
  onrush deps script.js
  onrush deps --json script.js
";

const RESULT_END: &str = "\
A result file has everything a run measured, second by second: onrush run --out result=FILE writes it. show prints the
run's summary from it, in any layout; export prints every step of every series, also for Prometheus. The file of a run that was killed is
read up to its end. recover prints the summary of a run whose coordinator is gone, from its --journal and the files that its
agents left.

Examples:
  onrush result show run.onrush                        the summary
  onrush result show --summary-mode full run.onrush    also by scenario, group and request name
  onrush result export --to csv run.onrush > run.csv
  onrush result export --to prometheus run.onrush > run.txt && promtool tsdb create-blocks-from openmetrics run.txt data
  onrush result recover run.journal onrush-agent-0.unheard onrush-agent-1.unheard
";

const COMPARE_END: &str = "\
BEFORE and AFTER are result files (onrush run --out result=FILE). Compared are the measures of the thresholds, and the
usual ones of requests, over the time in which the plan asks for the same load. Without --baseline nobody knows how much
runs of an unchanged system differ, so only what lies beyond the margin altogether gives 81.

Exit codes:
    0  nothing got worse, as far as that could be judged
   80  the measurement of a run is what --fail-on invalid or suspect names
   81  a measure got worse
   82  with --fail-on unjudged: there was no earlier run, or the runs were too short for a measure of the thresholds
  255  any other error, such as a file that cannot be read

Examples:
  onrush compare before.onrush after.onrush
  onrush compare --baseline results/ after.onrush       against the latest of these runs, which also say how they differ
  onrush compare --baseline results/ --fail-on unjudged after.onrush   fails when it cannot judge
  onrush compare --margin 10% --json before.onrush after.onrush
";

const GRAFANA_END: &str = "\
Prints a dashboard as JSON, which Grafana takes under Dashboards, New, Import, or from a folder of its provisioning.

Examples:
  onrush grafana export > onrush.json                  native histograms in Prometheus
  onrush grafana export --for prometheus               trend statistics, as k6 pushes them by default
  onrush grafana export --for influxdb
";

const COMPLETION_END: &str = "\
Examples:
  onrush completion bash > ~/.local/share/bash-completion/completions/onrush
  onrush completion fish > ~/.config/fish/completions/onrush.fish
  onrush completion zsh > \"${fpath[1]}/_onrush\"
";

const REPORT_END: &str = "\
FILE is what --out result=FILE or --keep wrote, or the JSON of --summary-export, which has totals and no course of time.

Examples:
  onrush report run.onrush                     writes run.html
  onrush report --output r.html.gz summary.json
";

const ROOT: &str = "\
Load testing with k6 scripts: more load per machine, numbers to trust.

Usage:
  onrush COMMAND [FLAGS] [FILE]

Commands:
  run         Run a k6 script or an archive
  http        Load one URL without writing a script
  capacity    Search for the highest load that holds its goals
  check       Check a script, its options and what it needs without sending a request
  doctor      Check whether this machine is fit for a test, and what mends it
  selftest    Measure what this machine can do as a generator
  new         Create a new script
  inspect     Print the options of a script as JSON; deps lists the modules it imports
  archive     Bundle a script and everything it needs into one file
  coordinator Run a script on agents that join from other machines; agent joins one, relay
              stands between many agents and one
  attach      Follow a run of a coordinator that serves many, or list its runs
  cluster     Make certificates for coordinators, agents and users
  target      Start the built-in server to test against: a demo site and httpbin-like endpoints
  compare     Compare two runs by their result files; result shows, exports, lists or recovers them
  report      Make an HTML report of a result file, or of an exported summary
  grafana     Print a dashboard for Grafana
  completion  Print a shell completion script
  version     Print the version
  help        Show help for a command

Commands for a running test:
  status      Show its status; scenarios lists its scenarios, stats shows its metrics
  scale       Change the VUs or the rate of a scenario
  pause       Pause it; resume resumes it
  stop        Stop it

Examples:
  onrush http http://127.0.0.1:8080 -c 50 -d 10s     load one URL over 50 connections
  onrush target                                      a server to test, on http://127.0.0.1:8080
  onrush run --vus 10 --duration 30s script.js       ten virtual users for half a minute
  onrush help run                                    all flags of run
";

const RUN: &str = "\
Run a k6 script. FILE is JavaScript, TypeScript or an archive; - reads it from standard input.

Usage:
  onrush run [FLAGS] FILE|-
";

const RUN_END: &str = "\
Options come from the following sources; later ones win:
  defaults, the config file, the script's `options`, K6_* variables, flags

Exit codes:
    0  the test passed                     105  ended by a signal
   80  measurement rejected by --fail-on   106  the REST API could not start
   99  thresholds were crossed             107  the script threw in init code, setup() or teardown()
  100  setup() took too long               108  the script aborted the test
  101  teardown() took too long            109  a bug in Onrush
  102  another step took too long          110  the script marked the test as failed
  103  stopped over the REST API           120  agents were lost or too few, or a thread died
  104  invalid options or thresholds       255  any other error, such as an unknown flag

Examples:
  onrush run script.js                                 with the script's own options
  onrush run -u 100 -d 1m script.js                    100 VUs for one minute
  onrush run -s 30s:500 -s 2m:500 -s 10s:0 script.js   ramp up to 500 VUs, stay, ramp down
  onrush run -e BASE_URL=http://host:8080 script.js    the script reads __ENV.BASE_URL
  onrush run --summary-export result.json script.js    and write the summary as JSON
  onrush run --on loadgen-1 --agents 3 script.js       on agents of a coordinator that serves runs
  cat script.js | onrush run -                         read the script from standard input
";

const TARGET: &str = "\
Start the built-in server to test against: a demo site, httpbin-like endpoints, bodies of any size, delays. Stop it with Ctrl+C.

Usage:
  onrush target [FLAGS]
";

const TARGET_END: &str = "\
Examples:
  onrush target                                        http://127.0.0.1:8080
  onrush target --listen 127.0.0.1:0 --delay 20ms      a free port; every response takes 20 ms
  onrush target --freeze 2s --freeze-every 10s         a server that stands still every now and then
  onrush target --tls-listen 127.0.0.1:8443 --certificate-out cert.pem
";
