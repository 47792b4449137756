//! `onrush completion`: scripts for shells, made from the parser and the table of flags.

use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use onrush_session::ExitCode;

use crate::{
    context::Context,
    failure::Failure,
    flags::{Command, FILES, FLAGS, parser_for_completion},
};

/// The shells there are scripts for.
const SHELLS: &[(&str, Shell)] =
    &[("bash", Shell::Bash), ("fish", Shell::Fish), ("powershell", Shell::PowerShell), ("zsh", Shell::Zsh)];

/// Prints the script for one shell.
///
/// # Errors
/// 255 when no shell, or an unknown one, is named.
pub(crate) fn completion(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    let names = || SHELLS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let [name] = files else {
        return Err(Failure::other(format!(
            "accepts 1 arg(s), received {}: arg should be one of {}",
            files.len(),
            names()
        )));
    };
    let Some((_, shell)) = SHELLS.iter().find(|(known, _)| known == name) else {
        return Err(Failure::other(format!("there is no completion for the shell '{name}'"))
            .hint(format!("use one of {}", names())));
    };
    let mut command = parser_for_completion();
    // Values are only suggested: what is wrong with one is said in k6's words, not the parser's.
    for flag in FLAGS.iter().filter(|flag| !flag.allowed.is_empty()) {
        let suggest = |command: clap::Command| {
            let has = command.get_arguments().any(|arg| arg.get_id() == flag.long);
            if !has {
                return command;
            }
            command.mut_arg(flag.long, |arg| arg.value_parser(PossibleValuesParser::new(flag.allowed)))
        };
        command = suggest(command).mut_subcommands(suggest);
    }
    // What some commands take is known.
    let shells: Vec<&str> = SHELLS.iter().map(|(name, _)| *name).collect();
    let commands: Vec<&str> = Command::ALL.iter().map(|command| command.name()).collect();
    let known = [(Command::Completion, shells), (Command::Help, commands)];
    for (name, values) in known.clone() {
        command = command.mut_subcommand(name.name(), |command| {
            command.mut_arg(FILES, |arg| arg.num_args(0..=1).value_parser(PossibleValuesParser::new(values)))
        });
    }
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut command, "onrush", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if *shell == Shell::Fish {
        // The generator leaves out what is no flag.
        for (command, values) in known {
            script.push_str(&format!(
                "complete -c onrush -n \"__fish_onrush_using_subcommand {}\" -f -a \"{}\"\n",
                command.name(),
                values.join(" ")
            ));
        }
    }
    cx.terminal.stdout(script);
    Ok(ExitCode::Success)
}
