//! The demo site's living pages: messages behind a login, and small ones.
//!
//! It keeps no sessions. The csrf token is compared with its own cookie, and the login cookie carries a keyed hash, so
//! any thread can check either.

use std::hash::BuildHasher;

use super::request::{GET, Outcome, Request, allow, bad_request, field, fields};
use crate::{body::Body, context::Context, head::Head, reply::Built, response_head::HTML, routes::cookies::cookie};

/// The one account that exists.
const USER: &str = "admin";
const PASSWORD: &str = "123";

/// Hexadecimal digits of a csrf token.
const TOKEN_DIGITS: usize = 32;

/// `/my_messages.php`: the messages, or the login form.
pub(super) fn messages(request: &Request<'_>, cx: &mut Context) -> Outcome {
    let head = request.head;
    allow(head, "GET, HEAD, POST")?;
    // A known token is kept, so that forms opened side by side all work.
    let token = match cookie(head, "csrf") {
        Some(token) if is_csrf(token) => token.to_owned(),
        _ => format!("{:016x}{:016x}", cx.random(), cx.random()),
    };
    let mut content = String::new();
    match &request.body {
        Body::Multipart(reader) => {
            let files: Vec<_> = reader.parts().iter().filter(|part| part.file_name.is_some()).collect();
            let bytes: u64 = files.iter().map(|part| part.bytes).sum();
            content.push_str(&format!("<p>Received {} file(s), {bytes} bytes.</p>\n", files.len()));
        }
        Body::Kept { total, .. } | Body::Counted(total) if *total > 0 => {
            content.push_str(&format!("<p>Received {total} bytes.</p>\n"));
        }
        _ => {}
    }
    if cookie(head, "uid").is_some_and(|uid| is_uid(uid, cx)) {
        content.push_str(MESSAGES);
    } else {
        content.push_str(FORM_START);
        content.push_str(&token);
        content.push_str(FORM_END);
    }
    Ok(page("My messages", &content).with("Set-Cookie", &format!("csrf={token}; Path=/")))
}

/// `/login.php`: checks the form and sends the browser back to the messages.
pub(super) fn login(request: &Request<'_>, cx: &mut Context) -> Outcome {
    let head = request.head;
    allow(head, "POST")?;
    let Body::Kept { data, .. } = request.body else {
        return Err(bad_request("the form is missing"));
    };
    let form: Vec<_> = fields(data).collect();
    let value = |name: &str| form.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_ref());
    let token = value("csrftoken");
    if !is_csrf(token) || cookie(head, "csrf") != Some(token) {
        let content = "<p>The form's csrf token is not the one in your cookie.</p>\n";
        let mut refused = page("Forbidden", content);
        refused.status = 403;
        return Err(Box::new(refused));
    }
    let accepted = value("login") == USER && value("password") == PASSWORD;
    let mut built = if value("redir") == "1" {
        Built::new(302, HTML, Vec::new()).with("Location", "/my_messages.php")
    } else if accepted {
        page("Login", "<p>You are logged in. <a href=\"/my_messages.php\">My messages</a></p>\n")
    } else {
        page("Login", "<p>Unauthorized: wrong name or password.</p>\n")
    };
    if accepted {
        built.add("Set-Cookie", &format!("uid={}; Path=/; HttpOnly", uid(cx)));
    } else {
        // A failed login ends an earlier one.
        built.add("Set-Cookie", "uid=; Path=/; Max-Age=0");
    }
    Ok(built)
}

fn is_csrf(token: &str) -> bool {
    token.len() == TOKEN_DIGITS && token.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn uid(cx: &mut Context) -> String {
    let nonce = cx.random();
    format!("{nonce:016x}{:016x}", cx.shared.secret.hash_one((USER, nonce)))
}

fn is_uid(text: &str, cx: &Context) -> bool {
    let number = |part: Option<&str>| part.and_then(|part| u64::from_str_radix(part, 16).ok());
    match (number(text.get(..16)), number(text.get(16..))) {
        (Some(nonce), Some(mac)) => cx.shared.secret.hash_one((USER, nonce)) == mac,
        _ => false,
    }
}

pub(super) fn contacts(head: &Head<'_>) -> Outcome {
    allow(head, GET)?;
    Ok(page("Contacts", CONTACTS))
}

pub(super) fn news(head: &Head<'_>) -> Outcome {
    allow(head, GET)?;
    Ok(page("News", NEWS))
}

/// `/flip_coin.php?bet=heads|tails`.
pub(super) fn flip_coin(head: &Head<'_>, cx: &mut Context) -> Outcome {
    allow(head, GET)?;
    let side = if cx.random() & 1 == 0 { "heads" } else { "tails" };
    let verdict = match field(head.query, "bet") {
        Some(bet) if bet == side => "<p>You won!</p>\n",
        Some(_) => "<p>You lost.</p>\n",
        None => "",
    };
    let content = format!(
        "<p>The coin shows <b>{side}</b>.</p>\n{verdict}\
         <p>Bet on <a href=\"/flip_coin.php?bet=heads\">heads</a> or \
         <a href=\"/flip_coin.php?bet=tails\">tails</a>.</p>\n"
    );
    Ok(page("Flip a coin", &content))
}

/// `/pi.php?decimals=n`.
pub(super) fn pi(head: &Head<'_>) -> Outcome {
    const DIGITS: &str = "14159265358979323846264338327950288419716939937510";
    allow(head, GET)?;
    let decimals = match field(head.query, "decimals") {
        None => 2,
        Some(text) => text.parse().unwrap_or(usize::MAX),
    };
    let digits = DIGITS.get(..decimals).ok_or_else(|| bad_request("decimals must be up to 50"))?;
    let content = format!("<p>Pi with {decimals} decimals is <b>3.{digits}</b>.</p>\n");
    Ok(page("Pi", &content))
}

fn page(title: &str, content: &str) -> Built {
    let text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{title} - demo site</title>\n\
         <link rel=\"stylesheet\" href=\"/static/css/site.css\">\n</head>\n<body>\n\
         <header><a href=\"/\"><img src=\"/static/logo.svg\" alt=\"Demo site\"></a></header>\n\
         <main>\n<h1>{title}</h1>\n{content}</main>\n\
         <script src=\"/static/js/prisms.js\"></script>\n</body>\n</html>\n"
    );
    Built::new(200, HTML, text.into_bytes())
}

const MESSAGES: &str = "<h2>Welcome, admin!</h2>\n<ul class=\"messages\">\n\
    <li><b>Operations</b>: the disk on the second machine is nearly full again.</li>\n\
    <li><b>Billing</b>: last month's invoice is ready.</li>\n\
    <li><b>A visitor</b>: your site is fast, how do you do that?</li>\n</ul>\n";

const FORM_START: &str = "<h2>Unauthorized</h2>\n<p>Log in to read your messages.</p>\n\
    <form action=\"/login.php\" method=\"post\">\n\
    <label>Name <input type=\"text\" name=\"login\" value=\"admin\"></label>\n\
    <label>Password <input type=\"password\" name=\"password\" value=\"123\"></label>\n\
    <input type=\"hidden\" name=\"redir\" value=\"1\">\n\
    <input type=\"hidden\" name=\"csrftoken\" value=\"";

const FORM_END: &str = "\">\n<button type=\"submit\">Log in</button>\n</form>\n";

const CONTACTS: &str = "<p>Nobody is behind this site: it exists to be load-tested.</p>\n\
    <table>\n<tr><th>Department</th><th>Answers</th></tr>\n\
    <tr><td>Sales</td><td>nothing is for sale</td></tr>\n\
    <tr><td>Support</td><td>read the documentation of your load tester</td></tr>\n</table>\n";

const NEWS: &str = "<article><h2>Nothing changed</h2>\n\
    <p>The site answers today as it did yesterday, which is what makes it useful.</p></article>\n\
    <article><h2>Still nothing</h2>\n<p>Measure twice, change once.</p></article>\n";
