//! The scripts in the pages about modules, each run as it stands there.

use onrush_testsite::TargetOptions;

use crate::program::Program;

/// The first script of a page.
fn script(page: &str) -> String {
    let path = format!("{}/../../docs/reference/modules/{page}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    let (_, rest) = text.split_once("```js\n").expect("a page has a script");
    rest.split_once("```").expect("a script ends").0.to_owned()
}

#[test]
fn grpc() {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() });
    let target = target.expect("the target starts");
    let folder = tempfile::tempdir().expect("a folder");
    let assets = format!("{}/../testsite/assets/grpc", env!("CARGO_MANIFEST_DIR"));
    for file in ["target.proto", "everything.proto", "legacy.proto"] {
        std::fs::copy(format!("{assets}/{file}"), folder.path().join(file)).expect(file);
    }
    let path = folder.path().join("script.js");
    std::fs::write(&path, script("grpc")).expect("it can be written");
    let address = format!("ADDRESS={}", target.addr);
    Program::new(&["run", "-i", "3", "-e", &address, &path.display().to_string()])
        .run()
        .expect(0)
        .expect_output("checks_succeeded...: 100.00%");
    // The same from an archive, which holds the files.
    let archive = folder.path().join("script.tar").display().to_string();
    Program::new(&["archive", "-O", &archive, &path.display().to_string()]).run().expect(0);
    for file in ["target.proto", "everything.proto", "legacy.proto"] {
        std::fs::remove_file(folder.path().join(file)).expect(file);
    }
    Program::new(&["run", "-e", &address, &archive]).run().expect(0).expect_output("checks_succeeded...: 100.00%");
}

#[test]
fn faker() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script.js");
    std::fs::write(&path, script("faker")).expect("it can be written");
    Program::new(&["run", "-i", "3", &path.display().to_string()])
        .run()
        .expect(0)
        .expect_output("checks_succeeded...: 100.00%");
}

#[test]
fn sql() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script.js");
    let database = folder.path().join("orders.db").display().to_string();
    std::fs::write(&path, script("sql").replace("orders.db", &database)).expect("it can be written");
    Program::new(&["run", "-i", "3", &path.display().to_string()])
        .run()
        .expect(0)
        .expect_output("checks_succeeded...: 100.00%");
}
