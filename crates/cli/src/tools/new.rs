//! `onrush new`: a script to start from.

use std::{io::Write as _, path::Path};

use onrush_session::ExitCode;

use super::template::fill;
use crate::{context::Context, failure::Failure};

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
pub(crate) fn new(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let flags = &cx.flags;
    let target = match files {
        [] => "script.js",
        [file] => file,
        _ => return Err(Failure::other(format!("accepts at most 1 arg(s), received {}", files.len()))),
    };
    let template = flags.text("template").unwrap_or_else(|| "minimal".to_owned());
    let text = fill(&text(&template)?, target, flags.text("project-id").as_deref().unwrap_or_default())
        .map_err(|reason| Failure::other(format!("failed to use the template '{template}': {reason}")))?;
    let force = flags.switch("force")?.unwrap_or(false);
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
    cx.terminal.stdout(format!("New script created: {target} ({template} template).\n"));
    if template == "browser" {
        cx.logger.warn("k6/browser is not available in this version of Onrush: this script needs k6");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_templates_are_filled() {
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
