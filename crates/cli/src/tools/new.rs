//! `onrush new`: a script to start from.

use std::{io::Write as _, path::Path};

use onrush_session::ExitCode;

use crate::{failure::Failure, run::Surroundings};

/// The templates that come with the program.
const TEMPLATES: &[(&str, &str)] = &[
    ("minimal", include_str!("templates/minimal.js")),
    ("protocol", include_str!("templates/protocol.js")),
    ("browser", include_str!("templates/browser.js")),
];

/// Largest template that is read.
const TEMPLATE_BYTES_MAX: u64 = 1 << 20;

/// Writes a script.
///
/// # Errors
/// 255: the file is there already, it cannot be written, there is no such template.
pub(crate) fn new(around: &Surroundings, files: &[String]) -> Result<ExitCode, Failure> {
    let given = &around.given;
    let target = match files {
        [] => "script.js",
        [file] => file,
        _ => return Err(Failure::other(format!("accepts at most 1 arg(s), received {}", files.len()))),
    };
    let template = given.text("template").unwrap_or_else(|| "minimal".to_owned());
    let text = fill(&text(&template)?, target, given.text("project-id").as_deref().unwrap_or_default())
        .map_err(|reason| Failure::other(format!("failed to use the template '{template}': {reason}")))?;
    let force = given.switch("force")?.unwrap_or(false);
    let mut open = std::fs::OpenOptions::new();
    open.write(true);
    if force {
        open.create(true).truncate(true)
    } else {
        open.create_new(true)
    };
    let mut file = open.open(target).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::other(format!("{target} already exists. Use the `--force` flag to overwrite it"))
        }
        _ => failed(target, &error),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| failed(target, &error))?;
    around.terminal.stdout(format!("New script created: {target} ({template} template).\n"));
    if template == "browser" {
        around.logger.warn("k6/browser is not available in this version of Onrush: this script needs k6");
    }
    Ok(ExitCode::Success)
}

fn failed(target: &str, error: &std::io::Error) -> Failure {
    Failure::other(format!("failed to write '{target}': {error}"))
}

/// A template's text: one of ours, or what is named by a path.
fn text(template: &str) -> Result<String, Failure> {
    if let Some((_, text)) = TEMPLATES.iter().find(|(name, _)| *name == template) {
        return Ok((*text).to_owned());
    }
    let path = Path::new(template);
    // k6: what contains no slash is a name.
    if !template.contains(std::path::is_separator) {
        return Err(Failure::other(format!("error retrieving template: invalid template type \"{template}\""))
            .hint("use minimal, protocol or browser, or a path such as ./template.js"));
    }
    let unreadable = |reason: String| Failure::other(format!("failed to read the template '{template}': {reason}"));
    let size = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if size > TEMPLATE_BYTES_MAX {
        return Err(unreadable(format!("it is larger than {} MiB", TEMPLATE_BYTES_MAX >> 20)));
    }
    std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))
}

/// Puts name and project into a template. k6's templates are Go's; of those only the two fields, and `if` around a
/// piece for projects, mean anything here.
fn fill(template: &str, name: &str, project: &str) -> Result<String, String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    let mut skips = false;
    let mut is_open = false;
    while let Some(start) = rest.find("{{") {
        let line = 1 + template[..template.len() - rest.len() + start].matches('\n').count();
        let Some(len) = rest[start..].find("}}") else { return Err(format!("line {line}: {{{{ has no }}}}")) };
        if !skips {
            out.push_str(&rest[..start]);
        }
        let action = &rest[start + 2..start + len];
        let (left, right) = (action.starts_with("- "), action.ends_with(" -"));
        if left && !skips {
            out.truncate(out.trim_end().len());
        }
        match action.trim_matches('-').trim() {
            ".ScriptName" if !skips => out.push_str(name),
            ".ProjectID" if !skips => out.push_str(project),
            ".ScriptName" | ".ProjectID" => {}
            "if .ProjectID" if !is_open => (is_open, skips) = (true, project.is_empty()),
            "end" if is_open => (is_open, skips) = (false, false),
            other => {
                return Err(format!(
                    "line {line}: {{{{ {other} }}}} is not supported; there are {{{{ .ScriptName }}}}, {{{{ .ProjectID }}}} and {{{{ if .ProjectID }}}} … {{{{ end }}}}"
                ));
            }
        }
        rest = &rest[start + len + 2..];
        if right {
            rest = rest.trim_start();
        }
    }
    if is_open {
        return Err("{{ if .ProjectID }} has no {{ end }}".to_owned());
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled() {
        let check = |template: &str, project: &str, expect: Result<&str, &str>| {
            assert_eq!(fill(template, "a.js", project).as_deref(), expect.map_err(str::to_owned).as_ref().copied());
        };
        check("// {{ .ScriptName }} {{.ProjectID}}\n", "7", Ok("// a.js 7\n"));
        check("a{{ if .ProjectID }}b{{ .ProjectID }}{{ end }}c", "", Ok("ac"));
        check("a\n{{- if .ProjectID }}\nb{{ end }}\nc", "7", Ok("a\nb\nc"));
        check(
            "\n{{ range .X }}",
            "",
            Err(
                "line 2: {{ range .X }} is not supported; there are {{ .ScriptName }}, {{ .ProjectID }} and {{ if .ProjectID }} … {{ end }}",
            ),
        );
        check("{{ if .ProjectID }}", "", Err("{{ if .ProjectID }} has no {{ end }}"));
        check("{{", "", Err("line 1: {{ has no }}"));
        for (name, text) in TEMPLATES {
            for project in ["", "4711"] {
                assert!(
                    fill(text, "a.js", project).is_ok_and(|text| text.contains("4711") != project.is_empty()),
                    "{name}"
                );
            }
        }
    }
}
