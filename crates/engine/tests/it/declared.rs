//! Exports of modules beside what k6's type declarations promise, both ways. `declared.txt` has the declarations' names.

use std::collections::BTreeSet;

use crate::harness::case;

/// Exports that the declarations do not know: those k6 has all the same.
const UNDECLARED: &[&str] = &[
    "k6/crypto hexEncode",
    // Since k6 2.2.
    "k6/experimental/streams WritableStream",
    "k6/experimental/streams WritableStreamDefaultWriter",
];

/// Declared, but without a value in k6 as well: enums of the compiler, a class that only `open()` makes, and a version of TLS
/// that is gone.
const WITHOUT_VALUE: &[&str] = &[
    "k6/experimental/fs File",
    "k6/html NodeType",
    "k6/http SSL_3_0",
    "k6/websockets BinaryType",
    "k6/websockets CompressionAlgorithm",
    "k6/websockets EventName",
    "k6/websockets MessageType",
    "k6/websockets ReadyState",
];

/// Other names of modules, which the declarations do not have.
const ALIASES: &[(&str, &str)] =
    &[("k6/experimental/websockets", "k6/websockets"), ("k6/x/redis", "k6/experimental/redis")];

/// Modules that are there and declared.
fn checked() -> impl Iterator<Item = &'static str> {
    let modules = include_str!("declared.txt").lines().filter_map(|line| line.split_once(": "));
    modules.map(|(module, _)| module).filter(|module| onrush_js::BUILTIN_MODULES.contains(module))
}

#[test]
fn modules_export_what_is_declared() {
    let declared: BTreeSet<String> = include_str!("declared.txt")
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(module, _)| onrush_js::BUILTIN_MODULES.contains(module))
        .flat_map(|(module, names)| names.split(' ').map(move |name| format!("{module} {name}")))
        .collect();
    let imports: String =
        checked().enumerate().map(|(index, module)| format!("import m{index} from '{module}';\n")).collect();
    let lists: String = checked()
        .enumerate()
        .map(|(index, module)| {
            format!("for (const name of Object.keys(m{index})) console.log(`{module} ${{name}}`);\n")
        })
        .collect();
    case(&format!("{imports} export default function () {{ {lists} }}")).both(|report| {
        report.assert_clean();
        let exported: BTreeSet<String> = report.said().into_iter().map(str::to_owned).collect();
        let missing: Vec<_> = declared.difference(&exported).map(String::as_str).collect();
        let more: Vec<_> = exported.difference(&declared).map(String::as_str).collect();
        assert_eq!((missing.as_slice(), more.as_slice()), (WITHOUT_VALUE, UNDECLARED));
    });
}

#[test]
fn other_names_export_the_same() {
    for (alias, name) in ALIASES {
        let script = format!(
            "import a from '{alias}'; import b from '{name}';
            export default function () {{ console.log(`${{Object.keys(a)}}` === `${{Object.keys(b)}}`); }}"
        );
        assert_eq!(case(&script).run().said(), ["true"], "{alias}");
    }
}

/// Every module of the declarations is one of ours, or known to be missing.
#[test]
fn declared_modules() {
    for line in include_str!("declared.txt").lines().filter(|line| !line.starts_with('#')) {
        let module = line.split(':').next().unwrap_or_default();
        let report =
            case(&format!("import module from '{module}'; export default function () {{ console.log('imported'); }}"))
                .run();
        let is_there = onrush_js::BUILTIN_MODULES.contains(&module);
        assert_eq!(report.said() == ["imported"], is_there, "{module} {report:#?}");
    }
}
