//! Cache, lock file, `--offline`, proxies and parallel fetches, against a server.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use onrush_net::ProxyOptions;
use onrush_script::{Remote as _, Unfetched};
use onrush_testkit::{CertificateAuthority, GoodProxy, GoodServer, Incoming, Reply};

use crate::{ImportOptions, Imports, Lock, lock};

/// A server of modules, whose content a test can change.
struct Lab {
    server: GoodServer,
    pem: String,
    content: Arc<Mutex<String>>,
    asked: Arc<Mutex<Vec<Incoming>>>,
    cache: tempfile::TempDir,
}

impl Lab {
    fn start() -> Self {
        Self::answering(|content, request| {
            let etag = lock::hash(content.as_bytes());
            if request.header("If-None-Match") == Some(&etag) {
                return Reply::status(304);
            }
            Reply::text(content).header("ETag", &etag)
        })
    }

    fn answering(answer: impl Fn(&str, &Incoming) -> Reply + Send + Sync + 'static) -> Self {
        let authority = CertificateAuthority::new();
        let content = Arc::new(Mutex::new("export const a = 1;".to_owned()));
        let asked: Arc<Mutex<Vec<Incoming>>> = Arc::default();
        let (served, log) = (Arc::clone(&content), Arc::clone(&asked));
        let server =
            GoodServer::start_tls(authority.identity(&["127.0.0.1", "modules.test"]).server(), move |request| {
                log.lock().unwrap().push(request.clone());
                let content = served.lock().unwrap().clone();
                answer(&content, request)
            });
        let cache = tempfile::tempdir().unwrap();
        Self { server, pem: authority.pem().to_owned(), content, asked, cache }
    }

    fn options(&self) -> ImportOptions {
        ImportOptions {
            extra_roots_pem: Some(self.pem.clone()),
            timeout: Duration::from_secs(20),
            cache: Some(self.cache.path().to_owned()),
            ..ImportOptions::default()
        }
    }

    fn url(&self) -> String {
        self.server.url("/a.js")
    }

    fn targets(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap()).into_iter().map(|request| request.target).collect()
    }
}

fn get(imports: &Imports, urls: &[&str]) -> Vec<Result<String, Unfetched>> {
    let found = imports.begin().fetch(urls);
    found.into_iter().map(|found| found.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())).collect()
}

#[track_caller]
fn fails(imports: &Imports, url: &str, reason: &str) {
    let unfetched = get(imports, &[url]).remove(0).unwrap_err();
    assert!(unfetched.reason.contains(reason), "{unfetched:?}");
}

#[test]
fn a_module_is_asked_for_as_k6_does() {
    let lab = Lab::start();
    let imports = Imports::new(lab.options());
    let url = lab.url();
    let found = get(&imports, &[&url, &format!("{url}?v=1"), &format!("{url}#a"), &format!("{url}#b")]);
    assert!(found.iter().all(|module| module.as_deref() == Ok("export const a = 1;")));
    let mut targets = lab.targets();
    targets.sort();
    assert_eq!(targets, ["/a.js?_k6=1", "/a.js?v=1&_k6=1"], "fragments are one module to the server");
    assert_eq!(imports.used().len(), 2);
}

#[test]
fn unchanged_modules_are_not_sent_again() {
    let lab = Lab::start();
    let url = lab.url();
    for content in ["export const a = 1;", "export const a = 1;", "export const a = 2;"] {
        content.clone_into(&mut lab.content.lock().unwrap());
        assert_eq!(get(&Imports::new(lab.options()), &[&url])[0].as_deref(), Ok(content));
    }
    let asked: Vec<bool> =
        lab.asked.lock().unwrap().iter().map(|request| request.header("If-None-Match").is_some()).collect();
    assert_eq!(asked, [false, true, true]);
    // Without a cache there is nothing to compare with.
    let without = ImportOptions { cache: None, ..lab.options() };
    assert!(get(&Imports::new(without), &[&url])[0].is_ok());
    assert_eq!(lab.asked.lock().unwrap()[3].header("If-None-Match"), None);
}

#[test]
fn offline_takes_what_was_fetched_last() {
    let lab = Lab::start();
    let url = lab.url();
    let offline = || Imports::new(ImportOptions { offline: true, ..lab.options() });
    fails(&offline(), &url, "it is not in the cache, and --offline forbids to fetch it");
    assert!(lab.targets().is_empty());
    assert!(get(&Imports::new(lab.options()), &[&url])[0].is_ok());
    lab.targets();
    assert_eq!(get(&offline(), &[&url])[0].as_deref(), Ok("export const a = 1;"));
    assert!(lab.targets().is_empty());
    // A pinned module that is another one now must not come from the cache.
    let other =
        Lock::from([(url.clone(), lock::hash(b"other"))].into_iter().collect::<std::collections::BTreeMap<_, _>>());
    let pinned = Imports::new(ImportOptions { offline: true, lock: Some(other), ..lab.options() });
    fails(&pinned, &url, "--offline");
}

#[test]
fn pinned_modules_are_checked_and_need_no_server() {
    let lab = Lab::start();
    let url = lab.url();
    let first = Imports::new(lab.options());
    assert!(get(&first, &[&url])[0].is_ok());
    let pinned = || Imports::new(ImportOptions { lock: Some(first.used()), ..lab.options() });
    lab.targets();
    assert!(get(&pinned(), &[&url])[0].is_ok());
    assert!(lab.targets().is_empty(), "the cache has it, and it cannot have changed");
    "export const a = 'evil';".clone_into(&mut lab.content.lock().unwrap());
    let uncached = Imports::new(ImportOptions { cache: None, lock: Some(first.used()), ..lab.options() });
    let (before, after) = (lock::hash(b"export const a = 1;"), lock::hash(b"export const a = 'evil';"));
    fails(&uncached, &url, &format!("its content has changed: onrush.lock has {before}, the server sent {after}"));
    assert!(uncached.used().is_empty());
    // Others are not pinned, and named.
    let other = lab.server.url("/b.js");
    let imports = pinned();
    assert!(get(&imports, &[&url, &other]).iter().all(Result::is_ok));
    assert_eq!(imports.unlocked(), [other]);
    assert!(first.unlocked().is_empty(), "without a lock file nothing is missing from it");
}

#[test]
fn users_and_passwords_go_to_the_server_and_nowhere_else() {
    let lab = Lab::start();
    let url = lab.url().replace("https://", "https://user:secret@");
    let imports = Imports::new(lab.options());
    assert!(get(&imports, &[&url])[0].is_ok());
    let asked = lab.asked.lock().unwrap()[0].clone();
    assert_eq!(asked.header("Authorization"), Some("Basic dXNlcjpzZWNyZXQ="));
    assert_eq!(imports.used().iter().map(|(url, _)| url.to_owned()).collect::<Vec<_>>(), [lab.url()]);
    assert!(!has_text(lab.cache.path(), "secret"));
}

/// Whether any file below a folder has this text.
fn has_text(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return has_text(&path, text);
        }
        path.display().to_string().contains(text)
            || String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(text)
    })
}

#[test]
fn modules_are_fetched_side_by_side() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inside, peak) = (Arc::clone(&now), Arc::clone(&most));
    let lab = Lab::answering(move |content, _| {
        peak.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Long enough for the others to arrive; no test depends on how long it is.
        std::thread::sleep(Duration::from_millis(200));
        inside.fetch_sub(1, Ordering::SeqCst);
        Reply::text(content)
    });
    let urls: Vec<String> = (0..40).map(|number| lab.server.url(&format!("/{number}.js"))).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let found = get(&Imports::new(lab.options()), &urls);
    assert!(found.iter().all(Result::is_ok));
    let most = most.load(Ordering::SeqCst);
    assert!((2..=16).contains(&most), "{most} at a time");
    assert_eq!(lab.server.requests(), 40);
}

#[test]
fn the_environments_proxy_is_used() {
    let lab = Lab::start();
    let proxy = GoodProxy::start(lab.server.addr());
    let proxies = ProxyOptions { https: proxy.addr().to_string(), ..ProxyOptions::default() };
    let url = lab.server.url_at("modules.test", "/a.js");
    let imports = Imports::new(ImportOptions { proxies: proxies.clone(), ..lab.options() });
    assert!(get(&imports, &[&url])[0].is_ok());
    assert!(proxy.heads()[0].starts_with("CONNECT modules.test:"), "{:?}", proxy.heads());
    let excepted = ProxyOptions { exceptions: "modules.test".to_owned(), ..proxies };
    fails(
        &Imports::new(ImportOptions { proxies: excepted, ..lab.options() }),
        &url.replace("/a.js", "/b.js"),
        "modules.test",
    );
    let broken = ProxyOptions { https: "ftp://proxy".to_owned(), ..ProxyOptions::default() };
    fails(&Imports::new(ImportOptions { proxies: broken, ..lab.options() }), &url, "invalid proxy address");
}

#[test]
fn a_cache_that_cannot_be_written_is_no_reason_to_fail() {
    let lab = Lab::start();
    let file = lab.cache.path().join("file");
    std::fs::write(&file, "").unwrap();
    let imports = Imports::new(ImportOptions { cache: Some(file), ..lab.options() });
    assert!(get(&imports, &[&lab.url()])[0].is_ok());
    assert!(imports.cache_failure().is_some());
}

#[test]
fn what_was_fetched_before_is_offered_when_the_network_fails() {
    let lab = Lab::start();
    let url = lab.url();
    assert!(get(&Imports::new(lab.options()), &[&url])[0].is_ok());
    let (options, cache) = (lab.options(), lab.cache);
    drop(lab.server);
    let unfetched = get(&Imports::new(options), &[&url]).remove(0).unwrap_err();
    assert!(unfetched.hint.contains("--offline"), "{unfetched:?}");
    drop(cache);
}
