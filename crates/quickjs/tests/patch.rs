//! The patch applier of the build script is strict.

#[path = "../build/patch.rs"]
mod patch;

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

/// Applies a patch to `BEFORE`: the text afterwards, or the error.
fn check(patch: &str) -> Result<String, String> {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "patch-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    std::fs::write(folder.join("f.c"), BEFORE).expect("the target folder is writable");
    let result = patch::apply(&folder, patch)
        .map(|()| std::fs::read_to_string(folder.join("f.c")).expect("the file is still there"));
    if result.is_err() {
        let text = std::fs::read_to_string(folder.join("f.c")).expect("the file is still there");
        assert_eq!(text, BEFORE, "a failing patch leaves the file alone");
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
    result
}

const HEADER: &str = "Why.\n\n--- a/f.c\n+++ b/f.c\n";

#[test]
fn exact_hunks_apply() {
    let patch = format!("{HEADER}@@ -1,2 +1,3 @@\n one\n+one and a half\n two\n@@ -5,2 +6,1 @@\n-five\n six\n");
    assert_eq!(check(&patch).as_deref(), Ok("one\none and a half\ntwo\nthree\nfour\nsix\n"));
    // Only additions: the header names the line before them.
    assert_eq!(
        check(&format!("{HEADER}@@ -6,0 +7 @@\n+seven\n")).as_deref(),
        Ok("one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    );
}

#[test]
fn anything_else_is_refused() {
    for (body, reason) in [
        ("@@ -2,1 +2,1 @@\n-one\n+uno\n", "line 2 is"),
        ("@@ -1,1 +1,1 @@\n-one \n+uno\n", "line 1 is"),
        ("@@ -6,2 +6,1 @@\n-six\n-seven\n", "outside of the file"),
        ("@@ -3,1 +3,1 @@\n-three\n+3\n@@ -1,1 +1,1 @@\n-one\n+1\n", "hunk 2"),
        ("@@ -1,2 +1,2 @@\n-one\n+uno\n", "ends too early"),
        ("@@ -1,1 +1,1 @@\n-one\n-two\n+uno\n", "more lines than its header says"),
        ("@@ one @@\n", "malformed hunk header"),
        ("", "no hunks"),
    ] {
        let error = check(&format!("{HEADER}{body}")).expect_err(body);
        assert!(error.contains("f.c") && error.contains(reason), "{body}: {error}");
    }
    assert!(check("just text\n").is_err());
    assert!(check("--- a/f.c\n+++ b/g.c\n@@ -1 +1 @@\n-one\n+1\n").is_err());
    assert!(check("--- a/../f.c\n+++ b/../f.c\n@@ -1 +1 @@\n-one\n+1\n").is_err());
}
