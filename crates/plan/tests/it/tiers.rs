//! Tiers over each other, the environment, and flags.

use std::collections::BTreeMap;

use onrush_plan::{Consolidated, Options, Tier, consolidate, from_env, from_flags, parse_json};

fn env(pairs: &[(&str, &str)]) -> Result<Options, String> {
    let map: BTreeMap<&str, &str> = pairs.iter().copied().collect();
    from_env(&|name| map.get(name).map(|v| (*v).to_owned())).map_err(|e| e.to_string())
}

fn flags(pairs: &[(&str, &str)]) -> Result<Options, String> {
    from_flags(&|name| pairs.iter().filter(|(flag, _)| *flag == name).map(|(_, v)| (*v).to_owned()).collect())
        .map_err(|e| e.to_string())
}

fn json(text: &str) -> Options {
    parse_json(text).unwrap().options
}

fn together(tiers: Vec<(Tier, Options)>) -> Consolidated {
    let mut all = vec![(Tier::Defaults, Options::defaults())];
    all.extend(tiers);
    consolidate(all).unwrap()
}

const SCENARIOS: &str = r#"{"scenarios": {"a": {"executor": "constant-vus", "duration": "5s", "vus": 3}}}"#;

#[test]
fn the_group_is_dropped_as_a_whole() {
    let test = together(vec![
        (Tier::Cli, flags(&[("iterations", "5")]).unwrap()),
        (Tier::Script, json(r#"{"vus": 4, "duration": "5s"}"#)),
    ]);
    assert_eq!(test.options.duration, None);
    assert_eq!(test.options.vus, Some(4));
    assert_eq!(test.scenarios[0].executor.type_name(), "shared-iterations");
    assert!(test.warnings.is_empty());
}

#[test]
fn a_shortcut_over_scenarios_warns() {
    let test = together(vec![(Tier::Script, json(SCENARIOS)), (Tier::Env, env(&[("K6_ITERATIONS", "5")]).unwrap())]);
    assert_eq!(test.warnings, [r#""env" level configuration overrode scenarios configuration entirely"#]);
    assert_eq!(test.scenarios[0].name, "default");
    let test = together(vec![(Tier::Config, json(SCENARIOS)), (Tier::Script, json(r#"{"iterations": 5}"#))]);
    assert_eq!(test.warnings, [r#""script" level configuration overrode scenarios configuration entirely"#]);
}

/// k6 1.8.1: an empty object of scenarios conflicts with the shortcuts, an empty list of stages does not.
#[test]
fn empty_scenarios_conflict() {
    let check = |text: &str, expect: Option<&str>| {
        let got = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, json(text))]);
        assert_eq!(got.err().map(|error| error.to_string()).as_deref(), expect, "{text}");
    };
    for shortcut in ["iterations", "duration", "stages"] {
        let value = match shortcut {
            "iterations" => "2",
            "duration" => r#""1s""#,
            _ => r#"[{"duration": "1s", "target": 1}]"#,
        };
        let text = format!("using `{shortcut}` and `scenarios` options simultaneously is not allowed");
        check(&format!(r#"{{"scenarios": {{}}, "{shortcut}": {value}}}"#), Some(&text));
    }
    check(r#"{"stages": [], "iterations": 2}"#, None);
    check(r#"{"scenarios": {}}"#, None);
}

/// k6 1.8.1: empty tags leave those of the config file alone; other lists and objects replace, empty or not.
#[test]
fn empty_tags_are_none() {
    let config = json(r#"{"tags": {"a": "1"}, "hosts": {"a.b": "1.2.3.4"}}"#);
    let test = together(vec![(Tier::Config, config), (Tier::Script, json(r#"{"tags": {}, "hosts": {}}"#))]);
    assert_eq!(test.options.tags, Some(BTreeMap::from([("a".to_owned(), "1".to_owned())])));
    assert_eq!(test.options.hosts, Some(BTreeMap::new()));
    assert_eq!(together(vec![(Tier::Script, json(r#"{"tags": {}}"#))]).options.tags, None);
}

#[test]
fn more_vus_than_a_machine_holds_are_refused() {
    let check = |vus: u64, expect: Option<&str>| {
        let test = together(vec![(Tier::Script, json(&format!(r#"{{"vus": {vus}, "duration": "1s"}}"#)))]);
        let plan = onrush_plan::Plan::new(&test.scenarios, &test.share).unwrap();
        assert_eq!(plan.check_size().err().map(|error| error.to_string()).as_deref(), expect);
    };
    check(10_000_000, None);
    check(
        99_999_999,
        Some(
            "the test needs 99999999 VUs on this instance, the limit is 10000000: use fewer VUs or more instances (--execution-segment)",
        ),
    );
}

#[test]
fn vus_alone_wins_over_scenarios() {
    let test = together(vec![(Tier::Script, json(SCENARIOS)), (Tier::Cli, flags(&[("vus", "7")]).unwrap())]);
    assert_eq!(test.warnings, ["`vus=7` overrides scenarios configuration"]);
    assert_eq!(
        test.scenarios[0].describe(&test.share).unwrap(),
        "7 iterations shared among 7 VUs (maxDuration: 10m0s, gracefulStop: 30s)"
    );
}

#[test]
fn nothing_set_is_one_iteration() {
    let test = together(vec![(Tier::Script, json("{}"))]);
    assert_eq!(
        test.scenarios[0].describe(&test.share).unwrap(),
        "1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)"
    );
    let test = together(vec![(Tier::Script, json(r#"{"stages": [], "scenarios": {}}"#))]);
    assert_eq!(
        test.warnings,
        [
            "`stages` was explicitly set to an empty value, running the script with 1 iteration in 1 VU",
            "`scenarios` was explicitly set to an empty value, running the script with 1 iteration in 1 VU",
        ]
    );
}

#[test]
fn stages_without_a_duration_are_left_out() {
    let test = together(vec![(
        Tier::Script,
        json(r#"{"vus": 4, "stages": [{"target": 9}, {"duration": "1s", "target": 3}, {"target": 7}]}"#),
    )]);
    assert_eq!(test.options.stages.unwrap().len(), 1);
    assert_eq!(json(r#"{"stages": [{"target": 5}]}"#).stages, Some(vec![]));
    assert_eq!(env(&[("K6_STAGES", ":5")]).unwrap().stages, Some(vec![]));
    assert_eq!(env(&[("K6_STAGES", "")]).unwrap().stages, Some(vec![]));
}

#[test]
fn maps_are_replaced_and_dns_is_merged() {
    let test = together(vec![
        (
            Tier::Script,
            json(r#"{"tags": {"a": "1", "b": "2"}, "dns": {"select": "first"}, "thresholds": {"x": ["a<1"]}}"#),
        ),
        (Tier::Env, env(&[("K6_TAGS", "c:3"), ("K6_DNS", "ttl=5"), ("K6_THRESHOLDS", r#"{"y": ["b<1"]}"#)]).unwrap()),
    ]);
    assert_eq!(test.settings.tags, BTreeMap::from([("c".to_owned(), "3".to_owned())]));
    assert_eq!(test.options.to_json()["dns"].to_string(), r#"{"ttl":"5","select":"first","policy":null}"#);
    assert_eq!(test.options.thresholds.unwrap().into_keys().collect::<Vec<_>>(), ["y"]);
}

#[test]
fn unknown_top_level_keys_are_only_collected() {
    let parsed = parse_json(r#"{"unknown1": 1, "VUS": 5, "consoleOutput": "x", "Duration": "3s"}"#).unwrap();
    assert_eq!(parsed.unknown, ["unknown1", "consoleOutput"]);
    assert_eq!((parsed.options.vus, parsed.options.duration.unwrap().to_string().as_str()), (Some(5), "3s"));
    assert_eq!(parse_json("null").unwrap().options, Options::default());
}

#[test]
fn environment() {
    let options = env(&[
        ("K6_VUS", "4"),
        ("K6_DURATION", "1500"),
        ("K6_STAGES", "5s:10,10:20"),
        ("K6_NO_SETUP", "true"),
        ("K6_SETUP_TIMEOUT", "1d"),
        ("K6_SYSTEM_TAGS", "url,foo"),
        ("K6_BLACKLIST_IPS", "10.0.0.0/8,::1/128"),
        ("K6_HOSTS", r#"{"A.com": "1.2.3.4:80"}"#),
        ("K6_SUMMARY_TREND_STATS", "avg,p(99)"),
        ("K6_LOCAL_IPS", "10.0.0.1-10.0.0.3"),
        ("K6_USER_AGENT", "x"),
        ("K6_HTTP_DEBUG", ""),
        ("K6_RPS", ""),
    ])
    .unwrap();
    let value = options.to_json();
    for (key, expect) in [
        ("vus", "4"),
        ("duration", r#""1.5s""#),
        ("stages", r#"[{"duration":"5s","target":10},{"duration":"10ms","target":20}]"#),
        ("noSetup", "true"),
        ("setupTimeout", r#""24h0m0s""#),
        ("systemTags", r#"["url"]"#),
        ("blacklistIPs", r#"["10.0.0.0/8","::1/128"]"#),
        ("hosts", r#"{"a.com":"1.2.3.4:80"}"#),
        ("summaryTrendStats", r#"["avg","p(99)"]"#),
        ("localIPs", r#""10.0.0.1-10.0.0.3""#),
        ("userAgent", r#""x""#),
        ("httpDebug", "null"),
        ("rps", "null"),
    ] {
        assert_eq!(value[key].to_string(), expect, "{key}");
    }
}

#[test]
fn environment_errors_name_the_variable() {
    for (name, value, expect) in [
        ("K6_VUS", "x", r#"K6_VUS: "x" is not a whole number"#),
        ("K6_NO_SETUP", "yes", r#"K6_NO_SETUP: "yes" is not a valid boolean value: use true or false"#),
        ("K6_DURATION", "xx", r#"K6_DURATION: time: invalid duration "xx""#),
        ("K6_DNS", "foo=1", "K6_DNS: unknown DNS configuration field: foo"),
        ("K6_DNS", "ttl", "K6_DNS: no value for key ttl"),
        ("K6_DNS", "ttl=", "K6_DNS: no value for key ttl="),
        ("K6_DNS", "select=x", "K6_DNS: x does not belong to DNSSelect values: first random roundRobin"),
        ("K6_TAGS", "a", r#"K6_TAGS: invalid map item: "a""#),
        ("K6_STAGES", "5s:x", r#"K6_STAGES: "x" is not a whole number"#),
        (
            "K6_BLACKLIST_IPS",
            "10.0.0.0",
            "K6_BLACKLIST_IPS: failed to parse CIDR '10.0.0.0': invalid CIDR address: 10.0.0.0",
        ),
        ("K6_LOCAL_IPS", "foo", "K6_LOCAL_IPS: foo is not a valid IP, IP range or CIDR"),
        ("K6_TLS_CIPHER_SUITES", "foo", "K6_TLS_CIPHER_SUITES: unknown cipher suite 'foo'"),
        (
            "K6_HOSTS",
            "a:1.1.1.1",
            "K6_HOSTS: expected value at line 1 column 1; the value is JSON, as in the config file",
        ),
        ("K6_HOSTS", r#"{"a b": "1.1.1.1"}"#, "K6_HOSTS: invalid host pattern 'a b'"),
    ] {
        assert_eq!(env(&[(name, value)]).unwrap_err(), expect);
    }
}

#[test]
fn command_line() {
    let options = flags(&[
        ("vus", "4"),
        ("duration", "1m30s"),
        ("stage", "5s:10,10s:20"),
        ("stage", "1m"),
        ("tag", "a=b"),
        ("tag", "c=d=e"),
        ("http-debug", ""),
        ("no-setup", ""),
        ("throw", "false"),
        ("execution-segment", "25%:1/2"),
        ("summary-trend-stats", "avg,p(99)"),
        ("system-tags", ""),
        ("dns", "ttl=1m,policy=any"),
    ])
    .unwrap();
    let value = options.to_json();
    for (key, expect) in [
        ("vus", "4"),
        ("duration", r#""1m30s""#),
        (
            "stages",
            r#"[{"duration":"5s","target":10},{"duration":"10s","target":20},{"duration":"1m0s","target":null}]"#,
        ),
        ("tags", r#"{"a":"b","c":"d=e"}"#),
        ("httpDebug", r#""headers""#),
        ("noSetup", "true"),
        ("throw", "false"),
        ("executionSegment", r#""1/4:1/2""#),
        ("systemTags", "null"),
        ("dns", r#"{"ttl":"1m","select":null,"policy":"any"}"#),
    ] {
        assert_eq!(value[key].to_string(), expect, "{key}");
    }
}

/// k6: flags with an empty text are as if they were not given.
#[test]
fn empty_flags() {
    let options = flags(&[("tag", ""), ("console-output", ""), ("local-ips", ""), ("tag", "a=b")]).unwrap();
    assert_eq!(options.tags.unwrap().len(), 1);
    assert_eq!((options.console_output, options.local_ips), (None, None));
}

/// k6: what a shortcut leaves open stays open in the scenario it becomes.
#[test]
fn shortcuts_leave_vus_open() {
    for (shortcut, key) in [
        (r#"{"iterations": 2}"#, "vus"),
        (r#"{"duration": "1s"}"#, "vus"),
        (r#"{"stages": [{"duration": "1s", "target": 1}]}"#, "startVUs"),
    ] {
        let test = together(vec![(Tier::Script, json(shortcut))]);
        assert_eq!(test.options.to_test_json()["scenarios"]["default"][key], serde_json::Value::Null, "{shortcut}");
    }
}

#[test]
fn command_line_errors_name_the_flag() {
    for (name, value, expect) in [
        ("duration", "10", r#"--duration: time: missing unit in duration "10""#),
        ("duration", "1d", r#"--duration: time: unknown unit "d" in duration "1d""#),
        ("stage", "5s:1,:3", "--stage: stage 1 doesn't have a specified duration"),
        ("stage", "5:1", r#"--stage: error for stage 0: time: missing unit in duration "5""#),
        ("tag", "a", "--tag: error parsing tag 'a': invalid tag, empty value"),
        ("tag", "=b", "--tag: error parsing tag '=b': invalid tag, empty name"),
        (
            "blacklist-ip",
            "1.1.1.1",
            "--blacklist-ip: error parsing blacklist-ip '1.1.1.1': failed to parse CIDR '1.1.1.1': invalid CIDR address: 1.1.1.1",
        ),
        ("summary-time-unit", "h", "--summary-time-unit: invalid summary time unit 'h', use 's', 'ms' or 'us'"),
        ("local-ips", "x", "--local-ips: x is not a valid IP, IP range or CIDR"),
        ("execution-segment", "1/2:1/4", "--execution-segment: segment start(0.50) must be less than its end(0.25)"),
    ] {
        assert_eq!(flags(&[(name, value)]).unwrap_err(), expect);
    }
}

#[test]
fn settings_fill_in_the_defaults() {
    let settings = together(vec![]).settings;
    assert_eq!((settings.max_redirects, settings.batch, settings.batch_per_host), (10, 20, 6));
    assert_eq!((settings.setup_timeout.as_secs(), settings.handle_summary_timeout.as_secs()), (60, 120));
    assert!(settings.setup && settings.teardown && settings.rps.is_none());
    assert!(settings.system_tags.contains("url") && !settings.system_tags.contains("vu"));
    let settings =
        together(vec![(Tier::Script, json(r#"{"rps": -4, "batch": -2, "noSetup": true, "systemTags": []}"#))]).settings;
    assert_eq!((settings.rps, settings.batch, settings.setup, settings.system_tags.is_empty()), (None, 1, false, true));
}
