//! The C programs under `tests/c`, with the patched source, under address and undefined behaviour sanitizers. Slow to
//! build (about a minute), so objects are kept between runs.

#[path = "polls/cases.rs"]
mod cases;

use onrush_quickjs_sys::PATCHED_SOURCE;
use std::{
    collections::hash_map::DefaultHasher,
    hash::Hasher,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

const SOURCES: [&str; 4] = ["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];

/// As the library is built, plus sanitizers, assertions and leak reports.
const FLAGS: [&str; 10] = [
    "-g1",
    "-O1",
    "-w",
    "-std=gnu11",
    "-funsigned-char",
    "-D_GNU_SOURCE",
    "-DENABLE_DUMPS",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
    "-fno-omit-frame-pointer",
];

fn gcc() -> Command {
    Command::new("gcc")
}

fn check(mut command: Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    text
}

/// The patched source compiled with sanitizers; once, whichever test comes first.
fn objects() -> &'static [PathBuf] {
    static OBJECTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    OBJECTS.get_or_init(compile)
}

/// Compiles the patched source, unless that was done for the same text before.
fn compile() -> Vec<PathBuf> {
    let source = Path::new(PATCHED_SOURCE);
    let mut hasher = DefaultHasher::new();
    let mut names: Vec<_> = std::fs::read_dir(source)
        .expect("build.rs left the patched source")
        .map(|entry| entry.expect("readable folder").path())
        .collect();
    names.sort();
    for path in names {
        hasher.write(&std::fs::read(path).expect("readable source"));
    }
    for flag in FLAGS {
        hasher.write(flag.as_bytes());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sanitized-{:016x}", hasher.finish()));
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    std::thread::scope(|scope| {
        let jobs = SOURCES.map(|name| {
            let object = folder.join(name).with_extension("o");
            scope.spawn(move || {
                if !object.exists() {
                    // Not under its final name before it is whole.
                    let partial = object.with_extension(format!("{}", std::process::id()));
                    let mut command = gcc();
                    command.args(FLAGS).arg("-c").arg(source.join(name)).arg("-o").arg(&partial);
                    check(command);
                    std::fs::rename(&partial, &object).expect("the target folder is writable");
                }
                object
            })
        });
        jobs.into_iter().map(|job| job.join().expect("the compiler runs")).collect()
    })
}

fn run(name: &str) -> String {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let mut command = gcc();
    command
        .args(FLAGS)
        .arg(format!("-I{PATCHED_SOURCE}"))
        .arg("-I")
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(format!("{name}.c")))
        .args(objects())
        .args(["-lm", "-o"])
        .arg(&program);
    check(command);
    let mut command = Command::new(&program);
    command
        .env("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=0")
        .env("UBSAN_OPTIONS", "print_stacktrace=1");
    let text = check(command);
    let _ = std::fs::remove_file(&program);
    text
}

#[test]
fn vus_swap_suspend_and_die_cleanly() {
    if gcc().arg("--version").output().is_err() {
        println!("skipped: no gcc");
        return;
    }
    let text = run("vus");
    assert!(text.contains("violations"), "{text}");
}

#[test]
fn realms_of_their_own_swap_and_die_cleanly() {
    if gcc().arg("--version").output().is_err() {
        println!("skipped: no gcc");
        return;
    }
    assert!(run("realms").contains("clean"));
}

#[test]
fn module_records_are_released_and_asked_for_again() {
    if gcc().arg("--version").output().is_err() {
        println!("skipped: no gcc");
        return;
    }
    assert!(run("modules").contains("clean"));
}

#[test]
fn built_ins_are_suspended_and_ended_at_every_poll() {
    if gcc().arg("--version").output().is_err() {
        println!("skipped: no gcc");
        return;
    }
    let mut table = String::from("typedef struct { const char *what, *input, *work; } PollCase;\n");
    table.push_str("static const PollCase poll_cases[] = {\n");
    for case in cases::CASES {
        let work = case.work();
        let (body, look) = work.rsplit_once("; ").expect("work ends with what is looked at");
        // A function, so that its own words are not among the polls.
        let work = format!("(() => {{ {body}; return {look}; }})");
        table += &format!("    {{ {}, {}, {} }},\n", literal(case.what), literal(&case.input()), literal(&work));
    }
    table.push_str("    { 0 },\n};\n");
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("polls_cases.h"), table)
        .expect("the target folder is writable");
    assert!(run("polls").contains("clean"));
}

/// A text as C has it.
fn literal(text: &str) -> String {
    let escaped: String = text.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    format!("\"{escaped}\"")
}
