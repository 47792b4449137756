//! Ordinary JavaScript works: the files of `tests/conformance`, in a plain realm and as a VU of a shared one, where not
//! one of them may hit a write trap.

mod support;

use std::path::Path;
use support::{Engine, Layout, with_stack};

fn run(layout: Layout) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let harness = read("harness.js");
    let mut assertions = 0;
    for name in ["classes.js", "functions.js", "objects.js", "literals.js", "data.js", "async.js"] {
        // As one line, so that line numbers of errors are those of the file.
        let prelude: String = harness.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join(" ");
        // A module has no completion value: hand the count over.
        let source =
            format!("{prelude}{}", read(name)).replace("\nassertions;", "\nglobalThis.assertions = assertions;");
        let (count, violations) = with_stack(|| {
            let engine = Engine::new(layout);
            engine.eval(name, &source, true).unwrap_or_else(|error| panic!("{layout:?} {name}: {error}"));
            (engine.eval("count", "assertions", false).expect("a count"), engine.violations())
        });
        assert_eq!(violations, 0, "{layout:?} {name} hits write traps");
        assertions += count.parse::<u32>().unwrap_or_else(|_| panic!("{name} counts {count} assertions"));
    }
    println!("{layout:?}: {assertions} assertions");
    assert!(assertions > 500, "{layout:?}: {assertions} assertions");
}

#[test]
fn ordinary_code_runs_in_a_plain_realm() {
    run(Layout::Plain);
}

#[test]
fn ordinary_code_runs_in_a_shared_realm() {
    run(Layout::Shared);
}

/// What literals leave behind to be used again holds neither long names nor many of them.
#[test]
fn dropped_objects_leave_little_behind() {
    for layout in [Layout::Plain, Layout::Shared] {
        let used = with_stack(|| {
            let engine = Engine::new(layout);
            let eval = |source: &str| engine.eval("dropped", source, false).expect("the script is correct");
            let used = |source: &str| {
                eval(source);
                engine.memory_used()
            };
            let before = used("const long = 'x'.repeat(100_000); for (let i = 0; i < 10; i++) ({ a: 1, b: { i } });");
            let names = used("for (let i = 0; i < 500; i++) ({ [long + i]: { [Symbol(long)]: i } });");
            let many = used("for (let i = 0; i < 5_000; i++) ({ [`a${i}`]: 1, [`b${i}`]: { [`c${i}`]: 2 } });");
            names.max(many).saturating_sub(before)
        });
        assert!(used < 200_000, "{layout:?}: {used} bytes");
    }
}
