//! The scripts that the guide "which test for what" is about run, each for a moment.

use onrush_testsite::TargetOptions;

use crate::program::Program;

fn example(name: &str) -> Program {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() });
    let target = target.expect("the target starts");
    let url = format!("BASE_URL=http://{}", target.addr);
    let path = format!("{}/../../examples/kinds/{name}.js", env!("CARGO_MANIFEST_DIR"));
    // The target answers until the tests end.
    std::mem::forget(target);
    // Times are those of a machine that does something else as well: only errors and checks are judged.
    Program::new(&["run", "--no-thresholds", "-e", &url, "-e", "TIME_SCALE=0.002", "-e", "RATE=300", &path])
}

#[test]
fn each_kind_of_test_runs() {
    let runs = ["smoke", "load", "stress", "spike", "breakpoint"].map(|name| (name, example(name).start()));
    for (name, run) in runs {
        let done = run.wait().expect(0);
        let failed = done.stdout.lines().find(|line| line.contains("http_req_failed")).unwrap_or_default();
        assert!(failed.contains(" 0.00% "), "{name}: {}\n{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("checks_succeeded...: 100.00%"), "{name}: {}", done.stdout);
    }
}

/// The scripts of the guide to WebSockets.
#[test]
fn sockets_are_opened_and_closed() {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() });
    let target = target.expect("the target starts");
    let url = format!("BASE_URL=http://{}", target.addr);
    for name in ["websockets", "ws"] {
        let path = format!("{}/../../examples/{name}.js", env!("CARGO_MANIFEST_DIR"));
        let flags = ["run", "--no-thresholds", "-e", &url, "-e", "SECONDS=1", &path];
        Program::new(&flags).run().expect(0).expect_output("checks_succeeded...: 100.00%");
    }
}

#[test]
fn calls_are_made() {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() });
    let target = target.expect("the target starts");
    let url = format!("BASE_URL=http://{}", target.addr);
    for name in ["grpc", "streaming"] {
        let path = format!("{}/../../examples/{name}.js", env!("CARGO_MANIFEST_DIR"));
        let flags = ["run", "--no-thresholds", "-e", &url, "-e", "PAUSE_MS=5", &path];
        Program::new(&flags).run().expect(0).expect_output("checks_succeeded...: 100.00%");
    }
}

/// Four hours are 29 seconds at that scale, so this one is shorter.
#[test]
fn the_soak_test_runs() {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() });
    let target = target.expect("the target starts");
    let url = format!("BASE_URL=http://{}", target.addr);
    let path = format!("{}/../../examples/kinds/soak.js", env!("CARGO_MANIFEST_DIR"));
    let flags = ["run", "--no-thresholds", "-e", &url, "-e", "TIME_SCALE=0.002", "-e", "HOURS=0.1", &path];
    Program::new(&flags).run().expect(0).expect_output("checks_succeeded...: 100.00%");
}

/// Their thresholds are understood, with the durations they are meant to have.
#[test]
fn each_kind_of_test_is_checked() {
    for name in ["smoke", "load", "stress", "spike", "soak", "breakpoint"] {
        let path = format!("{}/../../examples/kinds/{name}.js", env!("CARGO_MANIFEST_DIR"));
        Program::new(&["check", &path]).run().expect(0).expect_output("can run");
    }
}

/// The worked example of an extension: from its folder, and from an archive, in both layouts.
#[test]
fn the_extension_runs() {
    let folder = format!("{}/../../examples/extensions/checksums", env!("CARGO_MANIFEST_DIR"));
    let script = format!("{folder}/script.js");
    for layout in ["dense", "isolated"] {
        let isolation = format!("--vu-isolation={layout}");
        Program::new(&["run", &isolation, &script]).run().expect(0).expect_output("checks_succeeded...: 100.00%");
    }
    let copy = tempfile::tempdir().expect("a folder");
    for file in ["script.js", "checksums.wasm"] {
        std::fs::copy(format!("{folder}/{file}"), copy.path().join(file)).expect(file);
    }
    let archive = copy.path().join("script.tar").display().to_string();
    let script = copy.path().join("script.js").display().to_string();
    Program::new(&["archive", "-O", &archive, &script]).run().expect(0);
    let deps = Program::new(&["deps", &script]).run().expect(0);
    assert!(deps.stdout.contains("/checksums.wasm\n"), "{}", deps.stdout);
    for file in ["script.js", "checksums.wasm"] {
        std::fs::remove_file(copy.path().join(file)).expect(file);
    }
    Program::new(&["run", &archive]).run().expect(0).expect_output("checks_succeeded...: 100.00%");
}

/// What is in the repository is what its source makes, where the toolchain can make it.
#[test]
fn the_extension_can_be_built() {
    let folder = format!("{}/../../examples/extensions/checksums", env!("CARGO_MANIFEST_DIR"));
    let target = tempfile::tempdir().expect("a folder");
    let built = target.path().join("checksums.wasm");
    let build =
        std::process::Command::new("sh").arg(format!("{folder}/build.sh")).arg(&built).output().expect("a shell");
    let complaint = String::from_utf8_lossy(&build.stderr);
    if complaint.contains("target may not be installed") {
        // There is no wasm32-unknown-unknown here.
        return;
    }
    assert!(build.status.success(), "{complaint}");
    std::fs::copy(format!("{folder}/script.js"), target.path().join("script.js")).expect("a script");
    let script = target.path().join("script.js").display().to_string();
    Program::new(&["run", &script]).run().expect(0).expect_output("checks_succeeded...: 100.00%");
}
