//! Redirects that lead nowhere, and cookies by the thousand.

use super::case::Case;
use crate::steps::Step;

pub(super) fn cases() -> Vec<Case> {
    let to = |name, about, location: &str| {
        let text =
            format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        Case::says(name, about, text).in_scripts()
    };
    let cookies = |name, about, lines: String| {
        let text = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 2\r\nConnection: close\r\n\r\nhi");
        Case::says(name, about, text).in_scripts().times(2)
    };
    let many: String = (0..3000).map(|number| format!("Set-Cookie: c{number}=v{number}\r\n")).collect();
    vec![
        to("redirect_for_ever", "redirects to itself for ever", "{base}/again"),
        to("redirect_relative_for_ever", "redirects to a relative address for ever", "again"),
        to("redirect_empty", "redirects to nothing", ""),
        to("redirect_ftp", "redirects to ftp", "ftp://127.0.0.1/"),
        to("redirect_file", "redirects to a file", "file:///etc/passwd"),
        to("redirect_javascript", "redirects to javascript", "javascript:alert(1)"),
        to("redirect_garbage", "redirects to garbage", "http://[::1"),
        to("redirect_bad_escape", "redirects to a bad escape", "http://127.0.0.1/%zz"),
        to("redirect_bad_port", "redirects to a bad port", "http://127.0.0.1:99999/"),
        to("redirect_no_host", "redirects to no host", "http:///path"),
        to("redirect_refused", "redirects to where nobody listens", "http://127.0.0.1:1/"),
        to("redirect_crlf", "redirects with an escaped line end", "/a%0d%0aX-Injected:%20yes"),
        to("redirect_control", "redirects with a control character", "/a\u{1}b"),
        to("redirect_spaces", "redirects with spaces", "/a b c"),
        Case::says("redirect_nowhere", "redirects without a location", "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")
            .in_scripts(),
        Case::says("redirect_twice", "redirects to two places", {
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nLocation: http://127.0.0.1:2/\r\nContent-Length: 0\r\n\r\n"
        })
        .in_scripts(),
        Case::says("redirect_304", "sends 304 with a location", "HTTP/1.1 304 Not Modified\r\nLocation: /x\r\n\r\n")
            .in_scripts(),
        Case::says("redirect_huge", "redirects to an address of 1 MB and answers garbage there", {
            format!("HTTP/1.1 302 Found\r\nLocation: /{}\r\nContent-Length: 0\r\n\r\n", "a".repeat(1 << 20))
        })
        // Who is fast enough reaches the limit of redirects in time.
        .or(302, 0, "")
        .in_scripts(),
        Case::plain("redirect_hangs", "redirects to where it hangs", vec![
            Step::Read,
            Step::Send(b"HTTP/1.1 302 Found\r\nLocation: {base}/next\r\nContent-Length: 0\r\n\r\n".into()),
            Step::Hang,
        ])
        .in_scripts()
        .for_ever(),
        cookies("cookies_many", "sets 3000 cookies", many),
        cookies("cookie_huge", "sets a cookie of 1 MB", format!("Set-Cookie: c={}\r\n", "v".repeat(1 << 20))),
        cookies("cookie_no_name", "sets cookies without a name", "Set-Cookie: =v\r\nSet-Cookie: v\r\nSet-Cookie: ;\r\n".into()),
        cookies("cookie_attributes", "sets a cookie with 10,000 attributes", format!("Set-Cookie: c=v{}\r\n", "; a=b".repeat(10_000))),
        cookies("cookie_dates", "sets cookies with invalid dates", {
            "Set-Cookie: a=1; Expires=yesterday\r\nSet-Cookie: b=1; Max-Age=99999999999999999999\r\n\
             Set-Cookie: c=1; Expires=Thu, 99 Foo 99999 99:99:99 GMT\r\n"
                .into()
        }),
        cookies("cookie_control", "sets a cookie with control characters", "Set-Cookie: c=a\u{1}b\r\n".into()),
    ]
}
