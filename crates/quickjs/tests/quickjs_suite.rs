//! QuickJS-ng's own tests, from the registry crate, under the patched engine: once in a plain realm and once as a VU of
//! a shared one.

mod support;

use onrush_quickjs_sys::STOCK_SOURCE;
use std::path::Path;
use support::{Engine, Layout, with_stack};

/// Not tests by themselves, or in need of a host we are not.
const SKIP: &[&str] = &[
    "assert.js",
    "empty.js",
    "microbench.js",                 // takes minutes
    "test_std.js",                   // qjs:std
    "test_worker.js",                // os.Worker
    "test_worker_module.js",         // os.Worker
    "test_bjson.js",                 // qjs:bjson
    "bug1318.js",                    // qjs:os
    "bug1562.js",                    // qjs:std
    "import-attributes-identity.js", // a loader for text and JSON
    "fixture_import_attributes.json",
];

/// Tests that change built-ins on purpose: what a shared realm refuses.
const CHANGES_BUILT_INS: &[&str] = &["bug1355.js", "bug1661.js"];

/// Calls of single test functions that do so, left out in a shared realm.
const CHANGES_BUILT_INS_CALLS: &[(&str, &str)] =
    &[("test_language.js", "\ntest_using();"), ("test_builtin.js", "\ntest_typed_array();")];

/// What the tests of `test_builtin.js` expect, and what we do: local times are of 24 hours (patches/0008-dates.patch),
/// and writing to an immutable buffer fails, which in strict mode throws (patches/0009-module-records.patch).
const OTHERWISE: &[(&str, &str)] = &[
    (
        "ta[0] = 42;\n    assert(ta[0], 0);\n    Object.defineProperty(ta, \"0\", {value: 1337});",
        "assert(Reflect.set(ta, 0, 42), false);\n    assert(Reflect.defineProperty(ta, 0, {value: 1337}), false);",
    ),
    ("04/07/2024, 01:00:00 AM", "04/07/2024, 01:00:00"),
    ("04/07/2024, 02:00:00 AM", "04/07/2024, 02:00:00"),
    ("04/07/2024, 11:00:00 AM", "04/07/2024, 11:00:00"),
    ("04/07/2024, 12:00:00 AM", "04/07/2024, 00:00:00"),
    ("04/07/2024, 01:00:00 PM", "04/07/2024, 13:00:00"),
    ("04/07/2024, 02:00:00 PM", "04/07/2024, 14:00:00"),
    ("04/07/2024, 11:00:00 PM", "04/07/2024, 23:00:00"),
    ("04/07/2024, 12:00:00 PM", "04/07/2024, 12:00:00"),
];

/// The error type a file's front matter says it ends with.
fn expected_error(source: &str) -> Option<&str> {
    let (front, _) = source.strip_prefix("/*---")?.split_once("---*/")?;
    front.lines().find_map(|line| line.trim().strip_prefix("type: "))
}

fn run_file(layout: Layout, name: &str, path: &Path) -> Result<(), String> {
    let mut source = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    if layout == Layout::Shared {
        for (file, call) in CHANGES_BUILT_INS_CALLS.iter().filter(|(file, _)| *file == name) {
            assert!(source.contains(call), "{file} calls {call}");
            source = source.replace(call, "");
        }
    }
    if name == "test_builtin.js" {
        for (theirs, ours) in OTHERWISE {
            assert!(source.contains(theirs), "{name} expects {theirs}");
            source = source.replace(theirs, ours);
        }
    }
    let result = with_stack(|| Engine::new(layout).eval_source(path, &source));
    match (result, expected_error(&source)) {
        (Ok(_), None) => Ok(()),
        (Ok(_), Some(expected)) => Err(format!("ends without the {expected}")),
        (Err(error), Some(expected)) if error.starts_with(expected) => Ok(()),
        (Err(error), _) => Err(error),
    }
}

fn run(layout: Layout) {
    let mut failed = Vec::new();
    let mut passed = 0;
    let mut paths: Vec<_> = std::fs::read_dir(Path::new(STOCK_SOURCE).join("tests"))
        .expect("the registry crate ships its tests")
        .map(|entry| entry.expect("readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        if SKIP.contains(&name.as_str()) || name.starts_with("fixture_") {
            continue;
        }
        let refused = layout == Layout::Shared && CHANGES_BUILT_INS.contains(&name.as_str());
        match run_file(layout, &name, &path) {
            Ok(()) if refused => failed.push(format!("{name}: passes although it changes built-ins")),
            Err(error) if refused && error.contains("cannot change shared built-in property") => {}
            Err(error) => failed.push(format!("{name}: {error}")),
            Ok(()) => passed += 1,
        }
    }
    assert!(failed.is_empty(), "{layout:?}: {passed} passed, {} failed:\n{}", failed.len(), failed.join("\n"));
    assert!(passed > 60, "{layout:?}: only {passed} tests found");
}

#[test]
fn own_tests_pass_in_a_plain_realm() {
    run(Layout::Plain);
}

#[test]
fn own_tests_pass_in_a_shared_realm() {
    run(Layout::Shared);
}
