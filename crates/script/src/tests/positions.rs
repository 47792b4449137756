//! From the engine's positions to the user's sources.

use super::*;

/// 1-based byte line and column of the first `needle` in the code of module `index`, as QuickJS would report it.
fn engine_position(program: &Program, index: usize, needle: &str) -> (u32, u32) {
    let code = &program.modules[index].code;
    let at = code.find(needle).unwrap_or_else(|| panic!("{needle:?} in {code}"));
    let line_start = code[..at].rfind('\n').map_or(0, |n| n + 1);
    let line = code[..at].matches('\n').count() + 1;
    (line as u32, (at - line_start) as u32 + 1)
}

/// Loads a file and says where `needle` in its code comes from.
fn check(name: &str, source: &str, needle: &str, line: u32, column: u32) {
    let (project, program) = loaded(&[(name, source)]);
    let (at, col) = engine_position(&program, 0, needle);
    let stack = format!("    at f ({}:{at}:{col})\n    at native\n", program.modules[0].specifier);
    assert_eq!(
        project.relative(&program.remap_stack(&stack)),
        format!("    at f (file://~/{}:{line}:{column})\n    at native\n", name.replace(' ', "%20")),
        "{}",
        program.modules[0].code
    );
}

#[test]
fn typescript_positions_lead_back() {
    let source = "import http from 'k6/http';\n\
                  enum Kind { A, B }\n\
                  interface Unused {\n  x: number;\n}\n\
                  // a comment\n\
                  class C<T> {\n  constructor(private readonly x: T) {}\n\n  run(): void {\n    \
                  const kind: Kind = Kind.B; throw new Error('boom');\n  }\n}\n\
                  export default function (): void {\n  new C<string>('é').run();\n}\n";
    check("x.ts", source, "new Error(", 11, 38);
    check("x.ts", source, "new C(", 15, 3);
    check("x.ts", source, "Kind.B", 11, 24);
    check("x.ts", "let é: string = 'éé', x: any = null; x.y; export {}", "x.y", 1, 38);
}

#[test]
fn javascript_positions_are_kept() {
    check("x.js", "export {};\n  null.x", "null.x", 2, 3);
    check("x.js", "export {};\n'éé😀'; null.x", "null.x", 2, 9);
    check("x y.js", "export {};\n  null.x", "null.x", 2, 3);
}

#[test]
fn the_commonjs_wrapper_does_not_count() {
    check("x.js", "exports.a = 1; null.x", "null.x", 1, 16);
    check("x.js", "exports.a = 1;\nnull.x", "null.x", 2, 1);
    check("x.ts", "exports.a = 1 as number; null.x", "null.x", 1, 26);
}

#[test]
fn only_known_places_are_rewritten() {
    let (project, program) = loaded(&[("a.ts", "type X = 1;\n\nexport const a: X = f();"), ("b.js", "")]);
    let specifier = &program.modules[0].specifier;
    let check = |stack: &str, expect: &str| {
        let stack = stack.replace('@', specifier);
        assert_eq!(project.relative(&program.remap_stack(&stack)).replace("file://~/a.ts", "@"), expect);
    };
    check("", "");
    check("Error: file:// is no place", "Error: file:// is no place");
    check("at @:1:18", "at @:3:21");
    check("at @:1", "at @:3");
    check("at @:1:18:1:18", "at @:3:21:1:18");
    check("@", "@");
    check("@:", "@:");
    check("@:x", "@:x");
    check("@:99999999999:1", "@:99999999999:1");
    check("@:1:99999999999", "@:3:99999999999");
    check("@:77:5", "@:77:1");
    check("file:///nowhere.js:1:1 @:1:18 file://", "file:///nowhere.js:1:1 @:3:21 file://");
    check("at f (@:1:18)\nat g (@:1:1)", "at f (@:3:21)\nat g (@:3:1)");
}

#[test]
fn maps_of_bundlers_are_used() {
    // One segment: generated 2:1 is line 10, column 5 of the source.
    let map = r#"{"version":3,"sources":["../src/a.ts"],"mappings":";AASI"}"#;
    let inline = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(map)
    };
    let check = |source: &str, expect: &str| {
        let (project, program) = loaded(&[("dist/a.js", source), ("dist/a.js.map", map), ("dist/broken.map", "{")]);
        let stack = format!("at {}:2:4", program.modules[0].specifier);
        assert_eq!(project.relative(&program.remap_stack(&stack)), expect, "{source}");
        program.warnings.iter().map(|w| project.relative(w)).collect::<Vec<_>>()
    };
    let body = "export {};\nfoo();\n";
    let mapped = "at file://~/src/a.ts:10:5";
    assert!(check(&format!("{body}//# sourceMappingURL=a.js.map"), mapped).is_empty());
    assert!(check(&format!("{body}//# sourceMappingURL=data:application/json;base64,{inline}\n"), mapped).is_empty());
    let unmapped = "at file://~/dist/a.js:2:4";
    assert!(check(body, unmapped).is_empty());
    let warned = |source: &str, reason: &str| {
        let warnings = check(&format!("{body}//# sourceMappingURL={source}"), unmapped);
        assert_eq!(warnings.len(), 1, "{source}");
        assert!(warnings[0].starts_with("couldn't load source map for file://~/dist/a.js: "), "{}", warnings[0]);
        assert!(warnings[0].contains(reason), "{}", warnings[0]);
    };
    warned("gone.map", "gone.map");
    warned("broken.map", "invalid JSON");
    warned("https://example.com/a.map", "not a local file");
    warned("data:application/json;base64,!!", "base64");
}
