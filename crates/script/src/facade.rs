//! How ES modules see a CommonJS module: an ES module generated for it.
//!
//! The engine evaluates the CommonJS function when the facade is evaluated, so evaluation order is that of native
//! modules. The names have to be known before: they come from a static scan of the CommonJS source and from what the
//! program's importers ask for, so names that the scan cannot see still link.

use std::fmt::Write as _;

/// The facade of the CommonJS module `specifier` with these named exports.
///
/// k6: `default` is `module.exports.default` if there is one, otherwise `module.exports` itself; a name that does not
/// exist is `undefined`; a namespace has no `default`, so it is left out where nobody imports it by that name. Unlike in k6 the names are not live: they have their value at the end of the module's
/// evaluation.
pub(crate) fn facade<'n>(specifier: &str, has_default: bool, names: impl Iterator<Item = &'n str>) -> String {
    let mut out =
        format!("import {{ cjs }} from \"onrush:cjs\";\nconst m = cjs({});\nconst o = Object(m);\n", quote(specifier));
    if has_default {
        out.push_str("export default \"default\" in o ? o.default : m;\n");
    }
    name_exports(&mut out, names);
    out
}

/// The module of an extension: its functions, by name and as members of the default export.
pub(crate) fn of_extension<'n>(specifier: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut out = format!(
        "import {{ extension }} from \"onrush:cjs\";\nconst o = extension({});\nexport default o;\n",
        quote(specifier)
    );
    name_exports(&mut out, names.filter(|name| is_exportable(name)));
    out
}

fn name_exports<'n>(out: &mut String, names: impl Iterator<Item = &'n str>) {
    for (index, name) in names.enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "const e{index} = o[{}];\nexport {{ e{index} as {name} }};", quote(name));
    }
}

/// Whether a name can stand in `export { x as NAME }`.
pub(crate) fn is_exportable(name: &str) -> bool {
    name != "default" && oxc_syntax::identifier::is_identifier_name(name)
}

/// A JavaScript string literal.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_default_and_names() {
        let names = ["a", "delete", "ünï"];
        assert!(names.iter().all(|name| is_exportable(name)));
        assert_eq!(
            facade("file:///a\"b.js", true, names.into_iter()),
            "import { cjs } from \"onrush:cjs\";\n\
             const m = cjs(\"file:///a\\\"b.js\");\n\
             const o = Object(m);\n\
             export default \"default\" in o ? o.default : m;\n\
             const e0 = o[\"a\"];\nexport { e0 as a };\n\
             const e1 = o[\"delete\"];\nexport { e1 as delete };\n\
             const e2 = o[\"ünï\"];\nexport { e2 as ünï };\n"
        );
        assert!(!facade("a", false, ["x"].into_iter()).contains("default"));
        assert!(!is_exportable("default"));
        assert!(!is_exportable("a-b"));
        assert!(!is_exportable(""));
    }
}
