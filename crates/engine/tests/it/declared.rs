//! Exports of modules beside what k6's type declarations promise, both ways. `declared.txt` has the declarations' names.

use std::collections::BTreeSet;

use crate::harness::case;

/// Exports that the declarations do not know: those k6 has all the same.
const UNDECLARED: &[&str] = &["k6/crypto hexEncode"];

/// Declared, but without a value in k6 as well: a `const enum` of the compiler, and a version of TLS that is gone.
const WITHOUT_VALUE: &[&str] = &["k6/html NodeType", "k6/http SSL_3_0"];

/// Modules of which everything is there.
const CHECKED: &[&str] = &[
    "k6",
    "k6/crypto",
    "k6/data",
    "k6/encoding",
    "k6/execution",
    "k6/html",
    "k6/http",
    "k6/metrics",
    "k6/secrets",
    "k6/timers",
];

#[test]
fn modules_export_what_is_declared() {
    let declared: BTreeSet<String> = include_str!("declared.txt")
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(module, _)| CHECKED.contains(module))
        .flat_map(|(module, names)| names.split(' ').map(move |name| format!("{module} {name}")))
        .collect();
    let imports: String =
        CHECKED.iter().enumerate().map(|(index, module)| format!("import m{index} from '{module}';\n")).collect();
    let lists: String = CHECKED
        .iter()
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
