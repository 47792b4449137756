//! The option `dns` over the wire: what a server that is told what to say is asked, and what comes of it.

use std::{cell::RefCell, net::SocketAddr, rc::Rc, sync::Arc, time::Duration};

use hickory_resolver::config::ResolverOpts;
use onrush_fiber::{Clock, Reactor, ReactorConfig, spawn};
use onrush_testkit::{DnsAnswer, DnsQuestion, DnsServer};

use super::{DnsOptions, HostTable, IpRange, NameRules, Policy, Select, Ttl, resolver::Resolver, system::Settings};

fn answer(question: &DnsQuestion) -> DnsAnswer {
    match question.name.split('.').next().unwrap_or_default() {
        "one" => DnsAnswer::addresses(&["10.0.0.1"]).ttl_s(0),
        "three" => DnsAnswer::addresses(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]),
        "both" => DnsAnswer::addresses(&["127.0.0.2", "127.0.0.1", "::1"]),
        "six" => DnsAnswer::addresses(&["::1"]),
        "alias" => DnsAnswer::addresses(&["10.0.0.4"]).alias_of("one.test"),
        "long" => DnsAnswer::addresses(&["10.0.0.5"]).truncated(),
        "late" => DnsAnswer::addresses(&["10.0.0.6"]).after(Duration::from_millis(30)),
        "empty" => DnsAnswer::addresses(&[]),
        "failing" => DnsAnswer::failure(),
        "refused" => DnsAnswer::refused(),
        "garbage" => DnsAnswer::garbage(),
        "forged" => DnsAnswer::other_number(&["10.0.0.7"]),
        "silent" => DnsAnswer::silence(),
        "half" if question.kind == "A" => DnsAnswer::addresses(&["10.0.0.8"]),
        "half" => DnsAnswer::failure(),
        _ => DnsAnswer::no_such_name(),
    }
}

fn asking(servers: &[SocketAddr]) -> Settings {
    Settings {
        servers: servers.to_vec(),
        domain: None,
        search: Vec::new(),
        attempts: 2,
        // Long enough for a busy machine.
        timeout: Duration::from_secs(10),
        options: ResolverOpts::default(),
    }
}

/// Resolves names one after the other on a fiber: addresses, or code and text.
fn resolve(settings: &Settings, options: DnsOptions, names: &[&str]) -> Vec<String> {
    let resolver = Resolver::with_source(options, Arc::new(settings.clone()));
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let reactor = Reactor::new(ReactorConfig::default()).unwrap();
    let outcomes = Rc::new(RefCell::new(Vec::new()));
    let filled = Rc::clone(&outcomes);
    spawn(None, move || {
        for name in names {
            let until = Clock::now() + Duration::from_secs(20);
            let outcome = resolver.resolve(&name, Some(until));
            filled.borrow_mut().push(match outcome {
                Ok(ip) => ip.to_string(),
                Err(error) => format!("{} {} | {}", error.code, error.message, error.detail),
            });
        }
    });
    reactor.run();
    outcomes.take()
}

fn options(ttl: Ttl, select: Select, policy: Policy) -> DnsOptions {
    DnsOptions { ttl, select, policy }
}

const FIRST: DnsOptions = DnsOptions { ttl: Ttl::None, select: Select::First, policy: Policy::Any };

/// What k6 says, with the place of the server as `S`.
#[test]
fn answers_of_every_kind() {
    let server = DnsServer::start(answer);
    let check = |name: &str, expect: &str| {
        let got = resolve(&asking(&[server.addr()]), FIRST, &[name]).remove(0);
        assert_eq!(got.replace(&server.addr().to_string(), "S"), expect, "{name}");
    };
    check("one.test", "10.0.0.1");
    check("ONE.test.", "10.0.0.1");
    check("alias.test", "10.0.0.4");
    check("late.test", "10.0.0.6");
    check("half.test", "10.0.0.8");
    check("none.test", "1101 lookup: no such host | lookup none.test on S: no such host");
    check("empty.test", "1101 lookup: no such host | lookup empty.test on S: no such host");
    check(
        "failing.test",
        "1100 lookup failing.test on S: server misbehaving | lookup failing.test on S: server misbehaving",
    );
    check(
        "refused.test",
        "1100 lookup refused.test on S: server misbehaving | lookup refused.test on S: server misbehaving",
    );
    for name in ["silent.test", "forged.test"] {
        let settings = Settings { timeout: Duration::from_millis(20), ..asking(&[server.addr()]) };
        assert_eq!(resolve(&settings, FIRST, &[name]), ["1050 request timeout | request timeout"]);
    }
    let nonsense = "lookup garbage.test on S: cannot unmarshal DNS message";
    check("garbage.test", &format!("1100 {nonsense} | {nonsense}"));
    // These are never asked for.
    let asked = server.asked().len();
    check("a..test", "1101 lookup: no such host | lookup a..test: no such host");
    check(&"a".repeat(64), &format!("1101 lookup: no such host | lookup {}: no such host", "a".repeat(64)));
    assert_eq!(server.asked().len(), asked);
    assert_eq!((server.count("failing.test", "A"), server.count("none.test", "AAAA")), (2, 1));
}

#[test]
fn long_answers_come_over_tcp() {
    let server = DnsServer::start(answer);
    assert_eq!(resolve(&asking(&[server.addr()]), FIRST, &["long.test"]), ["10.0.0.5"]);
    let transports: Vec<bool> =
        server.asked().iter().filter(|asked| asked.kind == "A").map(|asked| asked.is_tcp).collect();
    assert_eq!(transports, [false, true]);
}

#[test]
fn answers_may_be_as_long_as_k6_takes_them() {
    let server = DnsServer::start(answer);
    let mut settings = asking(&[server.addr()]);
    // What resolv.conf says without `options edns0`.
    settings.options.edns0 = false;
    assert_eq!(resolve(&settings, FIRST, &["one.test"]), ["10.0.0.1"]);
    // k6: 1,232 bytes.
    assert!(server.asked().iter().all(|asked| asked.udp_bytes == Some(1232)), "{:?}", server.asked());
}

#[test]
fn ttl_says_how_often_the_server_is_asked() {
    let check = |ttl: Ttl, names: &[&str], expect: usize| {
        let server = DnsServer::start(answer);
        resolve(&asking(&[server.addr()]), options(ttl, Select::First, Policy::Any), names);
        assert_eq!((server.count("one.test", "A"), server.count("one.test", "AAAA")), (expect, expect), "{ttl:?}");
    };
    let five = &["one.test"; 5];
    check(Ttl::None, five, 5);
    // Whatever the records' own TTL is.
    check(Ttl::Forever, five, 1);
    check(Ttl::For(Duration::from_secs(60)), five, 1);
    check(Ttl::For(Duration::from_nanos(1)), five, 5);
    // Each spelling is a name of its own.
    check(Ttl::Forever, &["one.test", "ONE.test", "one.test.", "one.test"], 3);
    // Failures are not kept.
    let server = DnsServer::start(answer);
    resolve(&asking(&[server.addr()]), options(Ttl::Forever, Select::First, Policy::Any), &["none.test"; 3]);
    assert_eq!(server.count("none.test", "A"), 3);
}

#[test]
fn select_says_which_address() {
    let server = DnsServer::start(answer);
    let settings = asking(&[server.addr()]);
    let last_bytes = |ttl: Ttl, select: Select, names: &[&str]| -> String {
        let got = resolve(&settings, options(ttl, select, Policy::Any), names);
        got.iter().map(|ip| ip.rsplit('.').next().unwrap().to_owned()).collect()
    };
    let seven = &["three.test"; 7];
    for ttl in [Ttl::None, Ttl::For(Duration::from_nanos(1)), Ttl::For(Duration::from_secs(9)), Ttl::Forever] {
        assert_eq!(last_bytes(ttl, Select::First, seven), "1111111");
        assert_eq!(last_bytes(ttl, Select::RoundRobin, seven), "1231231", "{ttl:?}");
    }
    // Each name has turns of its own.
    let turns = last_bytes(Ttl::None, Select::RoundRobin, &["three.a", "three.b", "three.a", "three.b", "THREE.a"]);
    assert_eq!(turns, "11221");
    let random = last_bytes(Ttl::Forever, Select::Random, &["three.test"; 100]);
    assert!(['1', '2', '3'].iter().all(|last| random.contains(*last)), "{random}");
}

#[test]
fn policy_says_which_family() {
    let check = |policy: Policy, name: &str, expect: &str, questions: &[&str]| {
        let server = DnsServer::start(answer);
        let options = options(Ttl::None, Select::First, policy);
        assert_eq!(resolve(&asking(&[server.addr()]), options, &[name]), [expect], "{policy:?} {name}");
        let mut kinds: Vec<String> = server.asked().into_iter().map(|asked| asked.kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, questions, "{policy:?} {name}");
    };
    let both = &["A", "AAAA"];
    // In the order of RFC 6724: what cannot be reached goes last.
    let has_ipv6 = std::net::UdpSocket::bind("[::1]:0").is_ok();
    check(Policy::Any, "both.test", if has_ipv6 { "::1" } else { "127.0.0.2" }, both);
    check(Policy::PreferIpv4, "both.test", "127.0.0.2", both);
    check(Policy::PreferIpv6, "both.test", "::1", both);
    check(Policy::OnlyIpv4, "both.test", "127.0.0.2", &["A"]);
    check(Policy::OnlyIpv6, "both.test", "::1", &["AAAA"]);
    check(Policy::PreferIpv4, "six.test", "::1", both);
    check(Policy::PreferIpv6, "one.test", "10.0.0.1", both);
    check(Policy::OnlyIpv4, "six.test", "1000 lookup six.test: no such host | lookup six.test: no such host", both);
    check(Policy::OnlyIpv6, "one.test", "1000 lookup one.test: no such host | lookup one.test: no such host", both);
}

#[test]
fn servers_are_asked_in_their_order() {
    let silent = DnsServer::start(|_| DnsAnswer::silence());
    let failing = DnsServer::start(|_| DnsAnswer::failure());
    let knows = DnsServer::start(answer);
    let knows_not = DnsServer::start(|_| DnsAnswer::no_such_name());
    // Nobody listens there any more.
    let gone = DnsServer::start(answer).addr();
    let ask = |servers: &[SocketAddr], name: &str| resolve(&asking(servers), FIRST, &[name]).remove(0);
    assert_eq!(ask(&[gone, failing.addr(), knows.addr(), knows_not.addr()], "one.test"), "10.0.0.1");
    assert!(knows_not.asked().is_empty());
    let settings = Settings { timeout: Duration::from_millis(300), ..asking(&[silent.addr(), knows.addr()]) };
    assert_eq!(resolve(&settings, FIRST, &["one.c"]), ["10.0.0.1"]);
    // Who says that there is no such name is believed.
    assert!(ask(&[knows_not.addr(), knows.addr()], "one.b").starts_with("1101 "));
    assert_eq!(knows.count("one.b", "A"), 0);
    let refused = ask(&[gone], "one.test");
    assert_eq!(
        refused.replace(&gone.to_string(), "S").split(" | ").next(),
        Some("1100 lookup one.test on S: connection refused, or no way to the server")
    );
}

#[test]
fn a_range_of_this_machine_holds_what_leads_to_it() {
    let check = |range: &str, url: &str, is_forbidden: bool| {
        let rules = NameRules { blacklist: vec![IpRange::parse(range).unwrap()], ..NameRules::default() };
        let url = crate::url::Url::parse(url).unwrap();
        let outcome = rules.address_of(&url, &Resolver::new(DnsOptions::default()), None);
        assert_eq!(outcome.is_err_and(|error| error.code == 1110), is_forbidden, "{range} {url:?}");
    };
    check("127.0.0.0/8", "http://0.0.0.0/", true);
    check("::1/128", "http://[::]/", true);
    check("0.0.0.0/8", "http://0.0.0.0/", true);
    check("0.0.0.0/8", "http://127.0.0.1/", false);
    check("127.0.0.2/32", "http://0.0.0.0/", false);
}

#[test]
fn literals_lead_where_they_say() {
    let rules = NameRules {
        hosts: HostTable::parse([("mapped.test", "::ffff:10.0.0.1"), ("six.test", "[::1]:81")]).unwrap(),
        blacklist: vec![IpRange::parse("10.9.0.0/16").unwrap()],
        ..NameRules::default()
    };
    let resolver = Resolver::new(DnsOptions::default());
    let check = |url: &str, expect: &str| {
        let url = crate::url::Url::parse(url).unwrap();
        let outcome = rules.address_of(&url, &resolver, None);
        let shown = outcome.map_or_else(|error| error.detail, |address| address.to_string());
        assert_eq!(shown, expect, "{url:?}");
    };
    check("http://[::1]:8/", "tcp [::1]:8");
    check("http://::1:8/", "tcp [::1]:8");
    check("http://[::ffff:10.0.0.2]/", "tcp 10.0.0.2:80");
    check("http://mapped.test/", "tcp 10.0.0.1:80");
    check("http://six.test/", "tcp [::1]:81");
    check("http://[::ffff:10.9.0.1]/", "IP (10.9.0.1) is in a blacklisted range (10.9.0.0/16)");
    // These are this machine.
    check("http://[::]/", "tcp [::1]:80");
    check("http://0.0.0.0:9/", "tcp 127.0.0.1:9");
    // Zones count for link-local addresses only.
    check("http://[fe80::1%257]/", "tcp [fe80::1%7]:80");
    check("http://[::1%257]/", "tcp [::1]:80");
    check("http://[fe80::1%25no-such-interface]/", "tcp [fe80::1]:80");
    #[cfg(target_os = "linux")]
    check("http://[fe80::1%25lo]/", "tcp [fe80::1%1]:80");
}
