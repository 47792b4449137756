//! Tests of the jar against what Go's does.

use super::*;
use proptest::prelude::*;

const NOW_MS: i64 = 1_700_000_000_000;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn sent(jar: &CookieJar, to: &str, now_ms: i64) -> String {
    let mut out = Vec::new();
    for (at, cookie) in jar.for_url(&url(to), now_ms).iter().enumerate() {
        cookie.write(&mut out, at == 0);
    }
    String::from_utf8(out).unwrap()
}

fn jar(from: &str, lines: &[&str]) -> CookieJar {
    let mut jar = CookieJar::new();
    jar.store(&url(from), lines.iter().map(|line| line.as_bytes()), NOW_MS);
    jar
}

#[test]
fn matches_domains_and_paths_as_gos_jar_does() {
    let check = |from: &str, lines: &[&str], to: &str, expect: &str| {
        assert_eq!(sent(&jar(from, lines), to, NOW_MS), expect, "{lines:?} {from} -> {to}");
    };
    check("http://www.host.test/", &["A=a"], "http://www.host.test/", "A=a");
    check("http://www.host.test/", &["A=a"], "http://host.test/", "");
    check("http://www.host.test/", &["A=a; domain=host.test"], "http://other.host.test/", "A=a");
    check("http://www.host.test/", &["A=a; domain=.host.test"], "http://host.test/x", "A=a");
    check("http://www.host.test/", &["A=a; domain=ost.test"], "http://www.host.test/", "");
    check("http://www.host.test/", &["A=a; domain=other.test"], "http://www.host.test/", "");
    check("http://www.host.test/", &["A=a; domain=test"], "http://b.host.test/", "A=a");
    check("http://www.host.test/", &["A=a; domain=test"], "http://other.test/", "");
    check("http://127.0.0.1/", &["A=a; domain=127.0.0.1", "B=b; domain=0.0.1"], "http://127.0.0.1:81/", "A=a");
    check("http://h/some/path/x", &["A=a"], "http://h/some/path", "A=a");
    check("http://h/some/path/x", &["A=a"], "http://h/some/pathology", "");
    check("http://h/", &["A=a; path=/p/"], "http://h/p/q", "A=a");
    check("http://h/", &["A=a; path=/p/"], "http://h/p", "");
    check("http://h/", &["A=a; secure"], "http://h/", "");
    check("http://h/", &["A=a; secure"], "https://h/", "A=a");
    check("http://localhost/", &["A=a; secure"], "http://localhost/", "A=a");
    check("ftp://h/", &["A=a"], "http://h/", "");
    check("http://H.Test./", &["A=a"], "http://h.test/", "A=a");
}

#[test]
fn orders_by_path_then_age() {
    let jar = jar("http://h/", &["A=1; path=/", "B=2; path=/x/y", "C=3; path=/x", "A=4; path=/"]);
    assert_eq!(sent(&jar, "http://h/x/y", NOW_MS), "B=2; C=3; A=4");
}

#[test]
fn expiry() {
    let check = |line: &str, later_ms: i64, expect: &str| {
        assert_eq!(sent(&jar("http://h/", &["A=old", line]), "http://h/", NOW_MS + later_ms), expect, "{line}");
    };
    check("A=a; max-age=10", 9_999, "A=a");
    check("A=a; max-age=10", 10_000, "");
    check("A=a; max-age=0", 0, "");
    check("A=a; max-age=-5", 0, "");
    check("A=a; expires=Mon, 01 Jan 1990 00:00:00 GMT", 0, "");
    check("A=a; expires=Tue, 14-Nov-2023 22:13:30 GMT", 9_999, "A=a");
    check("A=a; expires=Tue, 14-Nov-2023 22:13:30 GMT", 10_000, "");
    check("A=a; expires=nonsense", 0, "A=a");
    check("A=a; expires=Mon, 01 Jan 1990 00:00:00 GMT; max-age=1", 0, "A=a");
    check("A=a; max-age=010", i64::MAX / 4, "A=a");
}

#[test]
fn parses_attributes() {
    let cookie = SetCookie::parse(
        b" n = \"v w\"; Path=/p; DOMAIN=.d; Max-Age=5; Secure; HttpOnly; SameSite=Lax; Expires=Wed, 21 Oct 2015 07:28:00 GMT; junk",
    );
    // Go keeps the blank before the quotes and then finds bytes that a value cannot have.
    assert_eq!(cookie, None);
    let cookie = SetCookie::parse(
        b" n =\"v w\"; Path=/p; DOMAIN=.d; Max-Age=5; Secure; HttpOnly; SameSite=Lax; Expires=Wed, 21 Oct 2015 07:28:00 GMT; junk",
    )
    .unwrap();
    assert_eq!(
        cookie,
        SetCookie {
            name: "n".into(),
            value: "v w".into(),
            quoted: true,
            path: "/p".into(),
            domain: ".d".into(),
            expires_ms: Some(1_445_412_480_000),
            max_age: 5,
            secure: true,
            http_only: true,
            same_site: SameSite::Lax,
        }
    );
    for bad in [&b""[..], b"novalue", b"=v", b"a b=c", b"a=\x01", b"a=\xff", b"a=b\\c", b";a=b"] {
        assert_eq!(SetCookie::parse(bad), None, "{bad:?}");
    }
    assert_eq!(SetCookie::parse(b"a=").unwrap().value, "");
}

#[test]
fn dates() {
    let check = |text: &str, expect: Option<i64>| assert_eq!(parse_http_date(text), expect, "{text}");
    check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
    check("Thu, 01-Jan-1970 00:00:01 UTC", Some(1_000));
    check("thu, 29 feb 2024 23:59:59 GMT", Some(1_709_251_199_000));
    check("Thu, 01 Jan 1970 03:00:00 GMT+3", Some(0));
    check("Fri, 31 Dec 9999 23:59:59 GMT", Some(253_402_300_799_000));
    check("Sat, 01 Jan 0001 00:00:00 GMT", Some(-62_135_596_800_000));
    check("Thu, 30 Feb 2024 00:00:00 GMT", None);
    check("Thu, 1 Jan 1970 00:00:00 GMT", None);
    check("Xxx, 01 Jan 1970 00:00:00 GMT", None);
    check("Thu, 01 Jan 70 00:00:00 GMT", None);
    check("Thu, 01 Jan 1970 24:00:00 GMT", None);
    check("Thu, 01 Jan 1970 00:00:00", None);
}

#[test]
fn deletes_and_clears_by_the_urls_own_path() {
    let mut jar = jar("http://h/a/b", &["A=1", "B=2", "C=3; path=/"]);
    jar.delete(&url("http://h/a/x"), "A");
    assert_eq!(sent(&jar, "http://h/a/b", NOW_MS), "B=2; C=3");
    jar.clear(&url("http://h/a/x"), NOW_MS);
    assert_eq!(sent(&jar, "http://h/a/b", NOW_MS), "C=3");
    jar.reset();
    assert!(jar.is_empty());
}

#[test]
fn quotes_what_needs_quotes() {
    let mut jar = CookieJar::new();
    for (name, value, quoted) in [("a", "x y", false), ("b", "x", true), ("c", "x;\"é,y", false)] {
        let cookie = SetCookie { name: name.into(), value: value.into(), quoted, ..SetCookie::default() };
        jar.set(&url("http://h/"), &cookie, NOW_MS);
    }
    assert_eq!(sent(&jar, "http://h/", NOW_MS), "a=\"x y\"; b=\"x\"; c=\"x,y\"");
}

#[test]
fn a_jar_has_a_limit() {
    let mut jar = CookieJar::new();
    for number in 0..JAR_COOKIES_MAX + 5 {
        jar.store(&url("http://h/"), [format!("c{number}=1").as_bytes()], NOW_MS);
    }
    assert_eq!(jar.len(), JAR_COOKIES_MAX);
}

proptest! {
    #[test]
    fn parsing_never_panics(line in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = SetCookie::parse(&line);
    }

    #[test]
    fn dates_never_panic(text in "[A-Z][a-z]{2}, [0-9]{1,3}[ -][A-Z][a-z]{2}[ -][0-9]{1,5} [0-9:.]{0,12} ?[A-Z+0-9-]{0,6}") {
        let _ = parse_http_date(&text);
    }

    /// One entry per (domain, path, name); what is sent is never expired and always matches.
    #[test]
    fn invariants(lines in proptest::collection::vec("[ab]=[a-z]{0,3}(; path=/[a-z/]{0,3})?(; max-age=-?[0-9]{1,2})?(; domain=(h.test|test|x.h.test))?", 0..12), later in 0_i64..100_000) {
        let mut jar = CookieJar::new();
        jar.store(&url("http://x.h.test/a/b"), lines.iter().map(|line| line.as_bytes()), NOW_MS);
        let mut ids: Vec<_> = jar.entries.iter().map(|e| (e.domain.clone(), e.path.clone(), e.name.clone())).collect();
        ids.sort();
        let before = ids.len();
        ids.dedup();
        prop_assert_eq!(before, ids.len());
        let target = url("http://x.h.test/a/b/c");
        let mut last_len = usize::MAX;
        for cookie in jar.for_url(&target, NOW_MS + later) {
            let entry = jar.entries.iter().find(|e| std::ptr::eq(&*e.name, cookie.name)).unwrap();
            prop_assert!(!entry.is_expired(NOW_MS + later));
            prop_assert!(entry.path.len() <= last_len);
            last_len = entry.path.len();
        }
    }
}
