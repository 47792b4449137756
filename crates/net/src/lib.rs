//! The network side of a VU: names, connections, TLS, HTTP/1.1, HTTP/2, cookies, compression, and the phases of each
//! request measured as k6 defines them.
//!
//! Code here runs on fibers of `onrush-fiber` and reads as if it blocked. It knows nothing of
//! JavaScript, metrics or options tiers: a [`ClientOptions`] comes in as plain data, [`Response`]s and
//! [`Failure`]s go out.
//!
//! What k6 users can see follows Go's network stack, which k6 stands on: URL rules, header names, cookie and redirect
//! rules, what counts as malformed, and the words of each error.
//!
//! ```
//! use onrush_fiber::{Clock, Reactor, ReactorConfig, spawn};
//! use onrush_net::{Body, BodyMode, ClientOptions, Connections, Request, Url};
//!
//! let reactor = Reactor::new(ReactorConfig::default())?;
//! let shared = ClientOptions::default().build_thread()?;
//! spawn(None, move || {
//!     let connections = Connections::new(shared);
//!     let url = Url::parse("http://127.0.0.1:1/").expect("a valid URL");
//!     let request =
//!         Request { method: "GET", url: &url, head: b"", host: None, body: &Body::None, user_agent: None, is_http1: false };
//!     let failure = connections.exchange(&request, BodyMode::Keep, Clock::now(), None);
//!     let failure = failure.expect_err("nobody listens there");
//!     assert_eq!((failure.error.code, &*failure.error.message), (1212, "dial: connection refused"));
//! });
//! reactor.run();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read next: [`client`] for an exchange, [`http1`] for the protocol, [`tls`] and [`dns`].

pub mod auth;
mod body_budget;
pub mod client;
mod conn;
pub mod cookie;
mod dial;
pub mod dns;
pub mod encoding;
pub mod error;
pub mod event_stream;
pub mod header;
pub mod http1;
mod http2;
mod link;
mod options;
pub mod redirect;
mod text;
pub mod tls;
mod turns;
pub mod url;
pub mod websocket;
mod wire;

pub use body_budget::{BodyBudget, BodyHold};
pub use client::{Connections, Download, Http2Route, Upgrade};
pub use cookie::{Cookie, CookieJar, SetCookie};
pub use dial::{fuzz as fuzz_proxy, proxy::ProxyOptions};
pub use error::{NetError, code_of_status};
pub use header::{HeaderBlock, RequestHeaders, canonical_name};
pub use http1::{Body, BodyMode, Failure, Limits, Proto, Request, Response, Timings, TlsInfo};
pub use http2::{Http2, Stream, StreamError, StreamHead, fuzz as fuzz_http2, reason_name};
pub use options::{Arrivals, Client, ClientOptions, ClientOptionsError, ClientShared, OwnTls};
pub use text::go_quote;
pub use tls::{ClientAuth, KeyLog, OcspResponse, OcspStatus, TlsOptions, TlsOptionsError, TlsVersion};
pub use url::{Scheme, Url};
pub use wire::Wire;
