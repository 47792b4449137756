//! Redirects: chains of a chosen length, and to a chosen place.

use super::request::{GET, Outcome, Request, allow, bad_request, field, not_found, parse_size};
use crate::{head::Head, reply::Built};

/// Longest chain.
const HOPS_MAX: usize = 1000;

/// `/redirect/{n}`: relative, or absolute with `?absolute=true`.
pub(super) fn redirect(request: &Request<'_>, count: &str) -> Outcome {
    let absolute = field(request.head.query, "absolute");
    if absolute.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return self::absolute(request, count);
    }
    relative(request, count)
}

pub(super) fn relative(request: &Request<'_>, count: &str) -> Outcome {
    hop(request, count, "/relative-redirect", "")
}

pub(super) fn absolute(request: &Request<'_>, count: &str) -> Outcome {
    hop(request, count, "/absolute-redirect", &request.base())
}

fn hop(request: &Request<'_>, count: &str, path: &str, base: &str) -> Outcome {
    let count = parse_size(count).ok_or_else(not_found)?;
    allow(request.head, GET)?;
    // The chain keeps its status code.
    let query = field(request.head.query, "status_code").map_or(String::new(), |code| format!("?status_code={code}"));
    let location = match count {
        1 => format!("{base}/get"),
        2..=HOPS_MAX => format!("{base}{path}/{}{query}", count - 1),
        _ => return Err(bad_request("a chain has 1 to 1000 redirects")),
    };
    Ok(Built::empty(code(request.head)?).with("Location", &location))
}

/// `/redirect-loop`: to itself, for ever.
pub(super) fn endless(head: &Head<'_>) -> Outcome {
    Ok(Built::empty(code(head)?).with("Location", head.path))
}

/// `/redirect-to?url=…&status_code=…`, for any method.
pub(super) fn redirect_to(head: &Head<'_>) -> Outcome {
    let url = field(head.query, "url").ok_or_else(|| bad_request("the url is missing"))?;
    Ok(Built::empty(code(head)?).with("Location", &url))
}

/// The status the request asks for.
fn code(head: &Head<'_>) -> Result<u16, Box<Built>> {
    match field(head.query, "status_code") {
        None => Ok(302),
        Some(text) => text
            .parse()
            .ok()
            .filter(|code| (300..400).contains(code))
            .ok_or_else(|| bad_request("status_code must be between 300 and 399")),
    }
}
