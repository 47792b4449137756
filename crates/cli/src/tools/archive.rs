//! `onrush archive`: a script, everything it imports and opens, and its options in one file.

use std::{fs::File, io::BufWriter, sync::Arc};

use onrush_archive::{Archive, FileTree, Metadata, WriteError};
use onrush_js::ScriptEnv;
use onrush_plan::Consolidated;
use onrush_session::ExitCode;

use crate::{
    args::ScriptArgs,
    context::Context,
    failure::Failure,
    flags::{Command, Flags},
    run::{
        config_file::ConfigFile,
        dependencies::{self, MANIFEST},
        features::Features,
        input::STDIN,
        load, prepare, tiers,
    },
    terminal::Message,
    version::K6_VERSION,
};

/// Makes an archive. The script's init code runs once: that is how the files it opens are found.
///
/// # Errors
/// As `run` for scripts and options; 255 when the archive cannot be written.
pub(crate) fn archive(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Archive)?;
    let flags = &cx.flags;
    let args = ScriptArgs::new(flags, files, false)?;
    let config = ConfigFile::read(cx)?;
    let features = Features::read(flags, &config.features)?;
    let script = load::load(&args, &features, flags, &cx.logger)?;
    let test = tiers::consolidate(cx, config, features, &script)?;
    let no_thresholds = flags.switch("no-thresholds")?.unwrap_or(false);
    prepare::thresholds(no_thresholds, &cx.logger, &test, &script.init.registry)?;
    let without_env = flags.switch("exclude-env-vars")?.unwrap_or(false);
    let archive = pack(&script.env, &test, flags, !without_env)?;
    let target = flags.text("archive-out").unwrap_or_else(|| "archive.tar".to_owned());
    write(cx, &archive, &target)?;
    Ok(ExitCode::Success)
}

/// The script, all it needs and its options.
///
/// # Errors
/// 255 when a file's name cannot be in an archive.
pub(crate) fn pack(env: &ScriptEnv, test: &Consolidated, flags: &Flags, with_env: bool) -> Result<Archive, Failure> {
    let program = &env.program;
    let entry = &program.modules[program.entry.0 as usize];
    let metadata = Metadata {
        options: test.merged.to_script_json(),
        filename: entry.specifier.clone(),
        pwd: pwd(env, &entry.specifier),
        env: with_env.then(|| env.env.clone()),
        compatibility_mode: if env.extended_mode { "extended" } else { "base" }.to_owned(),
        k6_version: K6_VERSION.to_owned(),
        dependencies: dependencies::of(program, flags.env.get(MANIFEST).map(String::as_str)).unwrap_or_default(),
        ..Metadata::default()
    };
    let data = entry.source.as_bytes().into();
    Ok(Archive { metadata, data, files: tree(env)? })
}

/// Everything but the script itself.
fn tree(env: &ScriptEnv) -> Result<FileTree, Failure> {
    let mut files = FileTree::default();
    let program = &env.program;
    let modules = program.modules.iter().enumerate().filter(|(index, _)| *index != program.entry.0 as usize);
    let modules = modules.map(|(_, module)| {
        let bytes = match &module.extension {
            Some(extension) => Arc::clone(extension.bytes()),
            None => Arc::from(module.source.as_bytes()),
        };
        (module.specifier.clone(), bytes)
    });
    let opened = env.opened_files().into_iter().map(|(path, bytes)| {
        let url = onrush_script::url_of_path(&path).unwrap_or_else(|| path.display().to_string());
        (url, bytes)
    });
    for (url, bytes) in modules.chain(program.assets.iter().cloned()).chain(opened) {
        if !files.insert(&url, bytes) {
            return Err(Failure::other(format!("failed to archive {url}: its name is not valid UTF-8")));
        }
    }
    Ok(files)
}

/// The folder relative names start from: the script's, or for the standard input the one it was read in.
fn pwd(env: &ScriptEnv, specifier: &str) -> String {
    if specifier == STDIN {
        return onrush_script::url_of_path(&env.working_dir).unwrap_or_default();
    }
    match specifier.rsplit_once('/') {
        // k6: a server's root keeps its slash.
        Some((folder, _)) if folder.starts_with("https://") && !folder[8..].contains('/') => format!("{folder}/"),
        Some((folder, _)) => folder.to_owned(),
        None => String::new(),
    }
}

fn write(cx: &Context, archive: &Archive, target: &str) -> Result<(), Failure> {
    let failed = |error: WriteError| Failure::other(format!("failed to write the archive to '{target}': {error}"));
    if target == "-" {
        let mut bytes = Vec::new();
        archive.write(&mut bytes).map_err(failed)?;
        cx.terminal.send(Message::Stdout(bytes));
        return Ok(());
    }
    let file = File::create(target).map_err(|error| failed(error.into()))?;
    archive.write(BufWriter::new(file)).map_err(|error| {
        // Half an archive is of no use; that it stays is worth no second error.
        let _ = std::fs::remove_file(target);
        failed(error)
    })
}
