//! What is shipped: `make install` and `uninstall`, stripping, the Dockerfile, the Debian package's list.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use xtask::workspace;

/// A folder of this test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run(command: &mut Command) -> String {
    let output = command.current_dir(workspace::root()).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(folder).expect("below it").display().to_string());
            }
        }
    }
    found
}

#[test]
fn uninstall_removes_what_install_put_there() {
    let (dist, root) = (folder("dist"), folder("root"));
    fs::create_dir_all(dist.join("completions")).expect("a folder");
    for name in ["completions/onrush.bash", "completions/onrush.fish", "completions/_onrush"] {
        fs::write(dist.join(name), name).expect("a file");
    }
    fs::copy(env!("CARGO_BIN_EXE_xtask"), dist.join("onrush")).expect("a program");
    let make = |target: &str| {
        let (dist, root) = (format!("DIST={}", dist.display()), format!("DESTDIR={}", root.display()));
        run(Command::new("make").args([target, &dist, &root, "PREFIX=/usr"]));
    };
    make("install");
    let installed = files(&root);
    for name in [
        "usr/bin/onrush",
        "usr/share/bash-completion/completions/onrush",
        "usr/share/fish/vendor_completions.d/onrush.fish",
        "usr/share/zsh/site-functions/_onrush",
        "usr/share/doc/onrush/LICENSE",
    ] {
        assert!(installed.contains(name), "{name} is not in {installed:?}");
    }
    make("uninstall");
    assert_eq!(files(&root), BTreeSet::new());
    // A second time there is nothing to remove, which is no error.
    make("uninstall");
}

#[test]
fn a_stripped_program_runs_and_knows_its_symbols() {
    let (folder, program) = (folder("strip"), env!("CARGO_BIN_EXE_xtask"));
    run(Command::new("sh").args(["packaging/strip.sh", program]).arg(&folder));
    let stripped = folder.join("xtask");
    let size = |path: &Path| fs::metadata(path).expect("a file").len();
    assert!(size(&stripped) < size(Path::new(program)), "nothing was stripped");
    assert!(size(&folder.join("xtask.debug")) > 0);
    assert!(run(Command::new(&stripped).arg("help")).contains("tidy"));
    let bytes = fs::read(&stripped).expect("a file");
    assert!(bytes.windows(11).any(|window| window == b"xtask.debug"), "no link to the symbols");
}

/// No container engine runs where the tests do, so the steps are held to what they need from this repository.
#[test]
fn the_dockerfile_fits_the_repository() {
    let root = workspace::root();
    let text = fs::read_to_string(root.join("Dockerfile")).expect("a Dockerfile");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let rust = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")).expect("a version");
    assert!(text.contains(&format!("FROM rust:{}-", rust.trim_end_matches('"'))), "built with another Rust");
    let (_, last) = text.split_once("FROM scratch").expect("a last stage with nothing in it");
    let user = last.lines().find_map(|line| line.strip_prefix("USER ")).expect("a user");
    assert!(user.split(':').all(|id| id.parse::<u32>().is_ok_and(|id| id >= 1_000)), "USER {user}");
    for path in last.split_whitespace().filter_map(|word| word.strip_prefix("/src/")) {
        assert!(path.starts_with("target/dist/static/") || root.join(path).exists(), "COPY of /src/{path}");
    }
    let makefile = fs::read_to_string(root.join("Makefile")).expect("a Makefile");
    assert!(text.contains("RUN make static") && makefile.contains("\nstatic: "));
    assert!(makefile.contains("DIST := target/dist\n") && makefile.contains("$(DIST)/static"));
}

/// cargo-deb finds its files from the manifest of the program.
#[test]
fn the_debian_package_lists_files_that_are_made() {
    let cli = workspace::root().join("crates/cli");
    let manifest = fs::read_to_string(cli.join("Cargo.toml")).expect("a manifest");
    let (_, assets) = manifest.split_once("assets = [").expect("a list");
    let sources: Vec<&str> =
        assets.lines().filter_map(|line| line.trim().strip_prefix("[\"")?.split('"').next()).collect();
    assert!(sources.len() >= 6, "{sources:?}");
    let made = ["onrush", "completions/onrush.bash", "completions/onrush.fish", "completions/_onrush"];
    for source in sources {
        match source.strip_prefix("../../target/dist/") {
            Some(name) => assert!(made.contains(&name), "nothing makes {source}"),
            None => assert!(cli.join(source).exists(), "{source}"),
        }
    }
}
