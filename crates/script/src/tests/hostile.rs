//! Inputs that are not scripts: an error, never a panic or an overflow.

use proptest::prelude::*;

use super::*;
use crate::ErrorKind;

fn load_bytes(name: &str, bytes: &[u8]) -> Result<Program, ScriptError> {
    let project = Project::new(&[(name, "")]);
    std::fs::write(project.dir.path().join(name), bytes).unwrap();
    project.load()
}

#[test]
fn unreadable_sources() {
    let check = |bytes: &[u8], message: &str| {
        let error = load_bytes("x.js", bytes).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Read);
        assert!(error.message.contains(message), "{}", error.message);
    };
    check(b"ok();\n\xff\xfe", "x.js is not valid UTF-8 (line 2)");
    check(&vec![b' '; (1 << 20) + 1], "is larger than 1048576 bytes");
    assert!(load_bytes("x.js", &vec![b' '; 1 << 20]).is_ok());
}

#[test]
fn control_characters() {
    for bytes in [&b"\0"[..], b"\0\0export", b"\x1b[31m", b"a\0b", b"`\0`", b"/*", b"'", b"`${", b"#!"] {
        let _ = load_bytes("x.js", bytes);
        let _ = load_bytes("x.ts", bytes);
    }
}

#[test]
fn deep_nesting() {
    const DEPTH: usize = 5_000;
    let wrap = |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(DEPTH), close.repeat(DEPTH));
    for source in [
        wrap("(", "1", ")"),
        wrap("[", "", "]"),
        wrap("{", "", "}"),
        wrap("({a:", "1", "})"),
        wrap("!", "1", ""),
        wrap("- ", "1", ""),
        wrap("x=>", "1", ""),
        wrap("a=", "1", ""),
        wrap("1+", "1", ""),
        wrap("a?b:", "c", ""),
        wrap("if(a)", ";", ""),
        wrap("if(a);else ", ";", ""),
        wrap("f(", "", ")"),
        wrap("`${", "1", "}`"),
        wrap("a.b(c).", "d", ""),
        wrap("function f(){", "", "}"),
        wrap("(", "", ""),
        wrap("[", "", ""),
        wrap("<", "", ""),
    ] {
        for name in ["x.js", "x.ts"] {
            let _ = load_bytes(name, source.as_bytes());
        }
    }
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let error = load_bytes("x.js", nested(50_001).as_bytes()).unwrap_err();
    assert_eq!(error.message, "brackets are nested deeper than 50000 levels");
    assert_eq!((error.line, error.column), (1, 50_001));
    assert!(load_bytes("x.js", nested(2_000).as_bytes()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), ts in any::<bool>()) {
        let _ = load_bytes(if ts { "x.ts" } else { "x.js" }, &bytes);
    }

    #[test]
    fn arbitrary_tokens(tokens in proptest::collection::vec(prop::sample::select(TOKENS), 0..40), ts in any::<bool>()) {
        let source = tokens.join(" ");
        if let Ok(program) = load_bytes(if ts { "x.ts" } else { "x.js" }, source.as_bytes()) {
            let stack = format!("at {}:1:60", program.modules[0].specifier);
            let _ = program.remap_stack(&stack);
        }
    }

    #[test]
    fn stacks_of_any_text(text in "(file:///-|:[0-9]{0,11}|é|\n| )*") {
        let project = Project::new(&[("x", "")]);
        let program = load(Entry::Stdin("let x: number = 1;".into()), &project.options()).unwrap();
        let _ = program.remap_stack(&text);
    }
}

const TOKENS: &[&str] = &[
    "import",
    "export",
    "default",
    "from",
    "'k6'",
    "'./x.js'",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "=",
    "=>",
    "x",
    "module",
    "exports",
    ".",
    "?.",
    "require",
    "await",
    "async",
    "function",
    "class",
    "enum",
    "namespace",
    "type",
    "interface",
    "const",
    "let",
    "declare",
    "<",
    ">",
    "number",
    "as",
    "return",
    "if",
    "else",
    "`a${",
    "}`",
    "/re/",
    "@",
    "*",
    "yield",
    "new",
    "this",
    "Array.prototype",
    "Object.defineProperty",
    "delete",
    "...",
    "!",
    "++",
    "1",
    "0n",
    "#p",
    "static",
    "constructor",
    "private",
    "readonly",
    "abstract",
    "extends",
    "super",
    "get",
    "import.meta",
    "using",
    "\n",
    "//",
    "/*",
    "*/",
];
