//! Builds QuickJS-ng from the source that the registry crate `rquickjs-sys` ships, after
//! applying the patch series in `patches/` and adding the shim in `shim/`.
//!
//! The source is never part of this repository: it is located with `cargo metadata` (or named
//! by `ONRUSH_QUICKJS_SOURCE`), copied to `OUT_DIR`, patched there by a strict applier (exact lines at exact places) and compiled.
//! `docs/design/003-patched-quickjs.md` says why, and how to move to a newer version.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

#[path = "build/layout.rs"]
mod layout;
#[path = "build/patch.rs"]
mod patch;

/// The package that carries the source, pinned by `Cargo.lock`.
const SOURCE_PACKAGE: &str = "rquickjs-sys";
/// The QuickJS-ng version the patches are made for.
const QUICKJS_VERSION: (u32, u32, u32) = (0, 16, 2);
/// The variable that names a folder with the source, for builds without the registry or without cargo.
const SOURCE_VARIABLE: &str = "ONRUSH_QUICKJS_SOURCE";
/// The variable that builds the engine for the fuzzer of module graphs: `address` for AddressSanitizer, and with the
/// defects it can put back in. The program must then be started with the sanitizer's library preloaded.
const SANITIZE_VARIABLE: &str = "ONRUSH_QUICKJS_SANITIZE";

/// What is compiled.
const SOURCES: &[&str] = &["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];
/// What the sources include.
const HEADERS: &[&str] = &[
    "builtin-array-fromasync.h",
    "builtin-iterator-zip-keyed.h",
    "builtin-iterator-zip.h",
    "cutils.h",
    "dtoa.h",
    "libregexp-opcode.h",
    "libregexp.h",
    "libunicode-table.h",
    "libunicode.h",
    "list.h",
    "quickjs-atom.h",
    "quickjs-c-atomics.h",
    "quickjs-opcode.h",
    "quickjs.h",
];
/// Ours, put beside them.
const SHIM: &[&str] = &["onrush_quickjs.h", "onrush_quickjs.c"];

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() {
    if let Err(error) = build() {
        // Cargo prints what goes to stderr when a build script fails.
        eprintln!("error: cannot build the patched QuickJS-ng: {error}");
        std::process::exit(1);
    }
}

fn build() -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?).join("quickjs");
    // Cargo.toml pins the source package to one version, so the lock file says nothing new.
    for path in ["build.rs", "build", "patches", "shim", "src/layout.rs", "Cargo.toml"] {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-env-changed={SOURCE_VARIABLE}");
    println!("cargo:rerun-if-env-changed={SANITIZE_VARIABLE}");
    println!("cargo:rustc-check-cfg=cfg(onrush_plants)");

    let stock = locate_source(&root)?;
    check_version(&stock)?;
    copy_sources(&stock, &out)?;
    for (name, text) in patch_series(&root.join("patches"))? {
        patch::apply(&out, &text).map_err(|error| format!("patches/{name}: {error}"))?;
    }
    for name in SHIM {
        copy(&root.join("shim").join(name), &out.join(name))?;
    }
    let checks = layout::header(&fs::read_to_string(root.join("src/layout.rs"))?)?;
    fs::write(out.join("onrush_layout.h"), checks)?;
    compile(&out)?;

    // For this crate's own tests only: they build the same source with sanitizers and run the test files of QuickJS-ng.
    println!("cargo:rustc-env=ONRUSH_QUICKJS_PATCHED={}", out.display());
    println!("cargo:rustc-env=ONRUSH_QUICKJS_STOCK={}", stock.display());
    Ok(())
}

/// The `quickjs` folder inside the source package's unpacked registry crate.
fn locate_source(root: &Path) -> Result<PathBuf> {
    if let Some(folder) = env::var_os(SOURCE_VARIABLE).filter(|folder| !folder.is_empty()) {
        let folder = PathBuf::from(folder);
        return if folder.join("quickjs.c").is_file() {
            Ok(folder)
        } else {
            Err(format!("{SOURCE_VARIABLE} names {}, which holds no quickjs.c", folder.display()).into())
        };
    }
    // The package hangs on a cfg that is never set, so a plain `cargo build` does not even download it. Offline first,
    // for speed and for machines without a network.
    let stdout = match metadata(root, true) {
        Ok(stdout) => stdout,
        Err(offline) if is_offline() => {
            return Err(format!(
                "the package {SOURCE_PACKAGE} that carries the source is not there, and this build may not use the \
                 network: run `cargo fetch --locked` once with network access, or set {SOURCE_VARIABLE} to a folder \
                 with the source of QuickJS-ng {QUICKJS_VERSION:?}\n{offline}"
            )
            .into());
        }
        Err(offline) => metadata(root, false).map_err(|online| {
            format!(
                "`cargo metadata` could not find the package {SOURCE_PACKAGE} that carries the source \
                 (run `cargo fetch --locked` once with network access)\n\
                 --- offline ---\n{offline}\n--- online ---\n{online}"
            )
        })?,
    };
    let metadata: serde_json::Value = serde_json::from_slice(&stdout)?;
    let packages = metadata["packages"].as_array().ok_or("`cargo metadata` lists no packages")?;
    let manifest = packages
        .iter()
        .find(|package| package["name"] == SOURCE_PACKAGE)
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or_else(|| format!("`cargo metadata` does not list {SOURCE_PACKAGE}: is it still in Cargo.toml?"))?;
    let folder = Path::new(manifest).with_file_name("quickjs");
    if folder.join("quickjs.c").is_file() {
        Ok(folder)
    } else {
        Err(format!("{} holds no quickjs.c: has {SOURCE_PACKAGE} changed its layout?", folder.display()).into())
    }
}

/// Whether cargo was told to stay off the network. The variable and the configuration file also hold for the cargo
/// started here; flags are only found in the command line of the cargo that runs this script.
fn is_offline() -> bool {
    println!("cargo:rerun-if-env-changed=CARGO_NET_OFFLINE");
    let variable = env::var("CARGO_NET_OFFLINE").is_ok_and(|value| value == "true");
    variable || parent_arguments().iter().any(|argument| argument == "--offline" || argument == "--frozen")
}

#[cfg(target_os = "linux")]
fn parent_arguments() -> Vec<String> {
    let path = format!("/proc/{}/cmdline", std::os::unix::process::parent_id());
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).split('\0').map(str::to_owned).collect()
}

#[cfg(not(target_os = "linux"))]
fn parent_arguments() -> Vec<String> {
    Vec::new()
}

/// The output of `cargo metadata` for this crate's workspace, or what cargo complained about.
fn metadata(root: &Path, offline: bool) -> std::result::Result<Vec<u8>, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = env::var("TARGET").map_err(|error| error.to_string())?;
    let mut command = Command::new(cargo);
    command
        .args(["metadata", "--format-version=1", "--locked"])
        // Only this target's packages, or cargo would fetch those of all platforms; with the cfg set that our
        // dependency hangs on, so that it counts as one of them.
        .args(["--filter-platform", &target])
        .env("CARGO_ENCODED_RUSTFLAGS", "--cfg\u{1f}onrush_quickjs_source")
        .arg("--manifest-path")
        .arg(root.join("Cargo.toml"))
        .current_dir(root);
    if offline {
        command.arg("--offline");
    }
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

/// The patches are made for one version and no other.
fn check_version(stock: &Path) -> Result<()> {
    let header = fs::read_to_string(stock.join("quickjs.h"))?;
    let number = |name: &str| -> Result<u32> {
        let line = header
            .lines()
            .find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name))
            .ok_or_else(|| format!("quickjs.h defines no {name}"))?;
        Ok(line.trim().parse()?)
    };
    let found = (number("QJS_VERSION_MAJOR")?, number("QJS_VERSION_MINOR")?, number("QJS_VERSION_PATCH")?);
    if found == QUICKJS_VERSION {
        Ok(())
    } else {
        Err(format!("the patches are for QuickJS-ng {QUICKJS_VERSION:?}, {SOURCE_PACKAGE} carries {found:?}").into())
    }
}

fn copy_sources(stock: &Path, out: &Path) -> Result<()> {
    fs::create_dir_all(out)?;
    for name in SOURCES.iter().chain(HEADERS) {
        copy(&stock.join(name), &out.join(name))?;
    }
    Ok(())
}

/// Copies the contents only: registry sources may be read-only, and the copy is patched.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    fs::write(to, bytes).map_err(|error| format!("cannot write {}: {error}", to.display()))?;
    Ok(())
}

/// Names and texts of the patches, in order of their numbers.
fn patch_series(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut series = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            series.push((name, fs::read_to_string(&path)?));
        }
    }
    series.sort();
    Ok(series)
}

fn compile(out: &Path) -> Result<()> {
    let mut build = cc::Build::new();
    build
        .include(out)
        .define("_GNU_SOURCE", None)
        .define("NDEBUG", None)
        // As QuickJS-ng's own build does.
        .flag_if_supported("-funsigned-char")
        // Third-party code: its warnings are not ours to fix.
        .warnings(false)
        .extra_warnings(false)
        .std("gnu11")
        // An interpreter at -O0 makes every test suite above it crawl.
        .opt_level(3)
        .debug(false);
    match env::var(SANITIZE_VARIABLE).unwrap_or_default().as_str() {
        "" => {}
        "address" => {
            build
                .compiler("gcc")
                .flag("-fsanitize=address")
                // Fibers share stacks, whose bytes are copied away and back: what is poisoned in one is not in another.
                .flag("--param=asan-stack=0")
                .flag("-fno-omit-frame-pointer")
                .flag("-g1")
                .opt_level(1)
                .define("ONRUSH_PLANTS", None);
            println!("cargo:rustc-cfg=onrush_plants");
            println!("cargo:rustc-link-lib=dylib=asan");
            let output = Command::new("gcc").arg("-print-file-name=libasan.so").output()?;
            let library = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
            let folder = library.parent().ok_or("gcc names no libasan.so")?;
            println!("cargo:rustc-link-search=native={}", folder.display());
        }
        other => return Err(format!("{SANITIZE_VARIABLE} is `{other}`; it can only be `address`").into()),
    }
    for name in SOURCES {
        build.file(out.join(name));
    }
    build.compile("onrush_quickjs");
    println!("cargo:rustc-link-lib=m");
    Ok(())
}
