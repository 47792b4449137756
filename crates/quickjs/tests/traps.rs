//! Nothing a script does changes an object of a shared realm.

mod support;

use support::{Engine, Layout, with_stack};

/// Walks everything reachable from the realm and tries to change it.
const WALK: &str = include_str!("traps/walk.js");
/// Every way to write that the language has, by hand.
const WRITES: &str = include_str!("traps/writes.js");

fn run(source: &str) -> (String, u64) {
    with_stack(|| {
        let engine = Engine::new(Layout::Shared);
        let text = engine.eval("traps.js", source, true).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(text, "undefined");
        let text = engine.eval("result.js", "globalThis.result", false).expect("a result");
        (text, engine.violations())
    })
}

#[test]
fn no_reachable_object_can_be_changed() {
    let (result, violations) = run(WALK);
    println!("{result}; {violations} violations");
    let objects: u32 = result.split(' ').next().and_then(|count| count.parse().ok()).expect("a count");
    assert!(objects > 600, "{result}");
    assert!(violations > 10_000, "{violations}");
}

#[test]
fn every_kind_of_write_is_refused() {
    let (result, violations) = run(WRITES);
    println!("{result}; {violations} violations");
    assert!(violations > 50, "{violations}");
}
