//! The table against the parser, the environment and what options know; the parser's words against k6's.

use std::{cell::RefCell, collections::BTreeSet, ffi::OsString};

use super::*;

fn parsed(line: &str) -> Result<(Command, Flags, Vec<String>), String> {
    let args = std::iter::once("onrush").chain(line.split_whitespace()).map(OsString::from);
    match parse(args, [("K6_SUMMARY_MODE".to_owned(), "full".to_owned())].into()) {
        Ok(Invocation::Do { command, flags, files }) => Ok((command, flags, files)),
        Ok(Invocation::Print(text)) => Err(text),
        Err(failure) => Err(failure.message),
    }
}

fn check_error(line: &str, expect: &str) {
    assert_eq!(parsed(line).map(|_| ()), Err(expect.to_owned()), "{line}");
}

#[test]
fn names_are_unique() {
    let mut longs = BTreeSet::new();
    let mut variables = BTreeSet::new();
    for flag in FLAGS.iter() {
        assert!(longs.insert(flag.long), "--{}", flag.long);
        assert!(flag.env.is_none_or(|env| variables.insert(env)), "--{}", flag.long);
        assert!(flag.help.len() > 10 && !flag.help.ends_with('.'), "--{}", flag.long);
    }
    for command in Command::ALL {
        let mut shorts = BTreeSet::from(['h']);
        for flag in FLAGS.iter().filter(|flag| command.takes(flag)) {
            assert!(flag.short_for(command).is_none_or(|short| shorts.insert(short)), "{command:?} --{}", flag.long);
        }
    }
}

#[test]
fn help_knows_every_command() {
    let Err(root) = parsed("help") else { panic!("it prints") };
    let words: BTreeSet<&str> = root.split(|sign: char| !sign.is_ascii_alphanumeric()).collect();
    for command in Command::ALL {
        let name = command.name();
        assert!(words.contains(name), "{name}");
        let Err(text) = parsed(&format!("help {name}")) else { panic!("it prints") };
        assert_eq!(text.contains("bash|fish"), command == Command::Completion, "{text}");
    }
}

/// Every flag and variable that options read is in the table, and the table claims no others.
#[test]
fn the_table_has_the_options_that_the_plan_reads() {
    let asked = RefCell::new(BTreeSet::new());
    let note = |name: &str| {
        asked.borrow_mut().insert(name.to_owned());
    };
    let read = onrush_plan::from_flags(&|name| {
        note(name);
        Vec::new()
    });
    assert!(read.is_ok());
    let flags = asked.take();
    let read = onrush_plan::from_env(&|name| {
        note(name);
        None
    });
    assert!(read.is_ok());
    let variables = asked.take();
    for name in &flags {
        assert!(find(name).is_some(), "--{name} is missing in the table");
    }
    let of_table = onrush_plan::OPTIONS.iter();
    assert_eq!(flags, of_table.clone().filter_map(|row| Some(row.flag?.long.to_owned())).collect());
    assert_eq!(variables, of_table.filter_map(|row| Some(row.variable?.to_owned())).collect());
}

#[test]
fn flags_are_read_as_by_k6() {
    let (command, flags, files) =
        parsed("-v run -u 5 --vus=6 -d10s -q=false --stage 1s:1,2s:2 -s 3s:3 script.js --env A=b --iterations -1")
            .unwrap();
    assert_eq!((command, files), (Command::Run, vec!["script.js".to_owned()]));
    assert_eq!(flags.values("vus"), ["5", "6"]);
    assert_eq!(flags.text("duration").as_deref(), Some("10s"));
    assert_eq!(flags.values("stage"), ["1s:1,2s:2", "3s:3"]);
    assert_eq!(flags.values("iterations"), ["-1"]);
    assert_eq!(flags.values("env"), ["A=b"]);
    assert_eq!(
        (flags.switch("verbose"), flags.switch("quiet"), flags.switch("throw")),
        (Ok(Some(true)), Ok(Some(false)), Ok(None))
    );
    assert_eq!(flags.text("summary-mode").as_deref(), Some("full"), "the variable counts where the flag is not given");
    let (_, flags, files) = parsed("run -wv --http-debug -").unwrap();
    assert_eq!(files, ["-"]);
    assert_eq!((flags.switch("throw"), flags.switch("verbose")), (Ok(Some(true)), Ok(Some(true))));
    assert_eq!(flags.values("http-debug"), ["headers"]);
    assert_eq!(parsed("run --summary-mode compact x").unwrap().1.text("summary-mode").as_deref(), Some("compact"));
}

/// The texts are k6's.
#[test]
fn mistakes_are_named_as_by_k6() {
    check_error("run --bad a.js", "unknown flag: --bad");
    check_error("run --bad=3 a.js", "unknown flag: --bad");
    check_error("run -Z a.js", "unknown shorthand flag: 'Z' in -Z");
    check_error("run --vus", "flag needs an argument: --vus");
    check_error(
        "run --vus x a.js",
        "invalid argument \"x\" for \"-u, --vus\" flag: strconv.ParseInt: parsing \"x\": invalid syntax",
    );
    check_error(
        "run --quiet=maybe a.js",
        "invalid argument \"maybe\" for \"-q, --quiet\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax",
    );
    check_error("frobnicate", "unknown command \"frobnicate\" for \"onrush\"");
    check_error("help frobnicate", "unknown command \"frobnicate\" for \"onrush\"");
    check_error("cloud script.js", "the command \"cloud\" of k6 is not available yet in this version of Onrush");
}

#[test]
fn what_is_not_available_is_refused() {
    let check = |line: &str, expect: Result<(), &str>| {
        let (command, flags, _) = parsed(line).unwrap();
        let refused = flags.refuse_unavailable(command).map_err(|failure| failure.message);
        assert_eq!(refused, expect.map_err(str::to_owned), "{line}");
    };
    check(
        "run --profiling-enabled a.js",
        Err("profiling over the REST API (--profiling-enabled) is not available yet in this version of Onrush"),
    );
    check("run --linger=false --traces-output none --address= a.js", Ok(()));
    check("run --no-usage-report --features freeze-env a.js", Ok(()));
}

/// `-c` is the config file everywhere but in one-liners, where it is connections, as in other programs of their kind.
#[test]
fn one_liners_have_short_names_of_their_own() {
    let (command, flags, files) = parsed("http -c 5 -n 10 -X PUT http://a/").unwrap();
    assert_eq!((command, files), (Command::Http, vec!["http://a/".to_owned()]));
    assert_eq!((flags.values("connections"), flags.values("config")), (vec!["5".to_owned()], Vec::new()));
    let (_, flags, _) = parsed("-c a.json http --config b.json http://a/").unwrap();
    assert_eq!(flags.values("config"), ["a.json", "b.json"]);
    assert_eq!(parsed("run -c a.json x.js").unwrap().1.values("config"), ["a.json"]);
}

/// What is a command line of `run` is one of `check`.
#[test]
fn check_takes_the_flags_of_run() {
    assert!(FLAGS.iter().filter(|flag| Command::Run.takes(flag)).all(|flag| Command::Check.takes(flag)));
    assert!(parsed("check --json -u 5 --out json=a --address x a.js").is_ok());
}

#[test]
fn help_shows_every_flag_within_the_terminal() {
    let text = parsed("run --help").unwrap_err();
    for flag in FLAGS.iter().filter(|flag| Command::Run.takes(flag)) {
        assert!(text.contains(&format!("--{}", flag.long)), "--{}", flag.long);
    }
    assert!(text.lines().all(|line| line.chars().count() <= 110));
    assert_eq!(parsed("help run").unwrap_err(), text);
    assert_eq!(parsed("").unwrap_err(), parsed("--help").unwrap_err());
    assert!(parsed("target -h").unwrap_err().contains("--tls-listen"));
}
