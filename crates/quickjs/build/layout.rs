//! Turns `src/layout.rs` into `_Static_assert`s, so that the C compiler checks what Rust believes.

use std::fmt::Write as _;

/// The header for the lines of `layout!(KIND { … })` in `text`. The error names the line that cannot be read.
pub fn header(text: &str) -> Result<String, String> {
    let mut out = String::from("/* Made from src/layout.rs. */\n");
    let (mut kind, mut object) = ("", "");
    for line in text.lines().map(str::trim).skip_while(|line| !line.starts_with("layout!(")) {
        let wrong = || format!("src/layout.rs: cannot read `{line}`");
        if let Some(rest) = line.strip_prefix("layout!(") {
            kind = rest.strip_suffix(" {").ok_or_else(wrong)?;
        } else if let Some(rest) = line.strip_suffix(" {") {
            let (name, size) = rest.split_once(' ').ok_or_else(wrong)?;
            object = name;
            check(&mut out, &format!("sizeof({name})"), size);
        } else if let Some((name, number)) = line.strip_suffix(';').and_then(|line| line.split_once(" = ")) {
            let expression = match kind {
                "structs" => format!("offsetof({object}, {name})"),
                // `Enum::variant NAME_IN_C`
                "variants" => name.split_once(' ').ok_or_else(wrong)?.1.to_owned(),
                _ => name.to_owned(),
            };
            // The sanitizer tests build the engine with its dumps, which have fields of their own.
            let is_plain = kind == "engine";
            out.push_str(if is_plain { "#ifndef ENABLE_DUMPS\n" } else { "" });
            check(&mut out, &expression, number);
            out.push_str(if is_plain { "#endif\n" } else { "" });
        } else if !line.is_empty() && !line.starts_with("//") && !matches!(line, "}" | "});") {
            return Err(wrong());
        }
    }
    Ok(out)
}

fn check(out: &mut String, expression: &str, number: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "_Static_assert({expression} == {number}, \"src/layout.rs: {expression} is not {number}\");");
}
