//! dump
mod support;
use onrush_net::{Body, BodyMode, ClientOptions, Connections};
use onrush_testkit::http2::{FrameServer, misbehaviours};
use std::time::Duration;
use support::{on_fiber, send};

#[test]
fn dump() {
    let only = std::env::var("ONLY").ok();
    for case in misbehaviours() {
        if only.as_ref().is_some_and(|only| only != case.name) {
            continue;
        }
        let server = FrameServer::start(case.run);
        let url = server.url("/");
        let options = ClientOptions { http2_prior_knowledge: true, ..ClientOptions::default() };
        let start = std::time::Instant::now();
        let text = on_fiber(options, move |shared| {
            let connections = Connections::new(shared);
            match send(&connections, "GET", &url, Body::None, BodyMode::Keep, Duration::from_millis(300)) {
                Ok(r) => format!(
                    "{},0,,{}",
                    r.status,
                    if r.body.len() > 60 {
                        r.body.len().to_string()
                    } else {
                        String::from_utf8_lossy(&r.body).into_owned()
                    }
                ),
                Err(f) => format!(
                    "0,{},{},{}",
                    f.error.code,
                    f.error.message,
                    f.partial_body.map_or("null".into(), |b| if b.len() > 60 {
                        b.len().to_string()
                    } else {
                        String::from_utf8_lossy(&b).into_owned()
                    })
                ),
            }
        });
        println!("{}|{}|{}ms", case.name, text, start.elapsed().as_millis());
    }
}
