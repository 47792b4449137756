//! The examples of the pages about modules: each runs in both layouts, without an error or a failed check.

use std::{fs, path::Path};

use onrush_metrics::builtin;

use crate::harness::case;

#[test]
fn examples_of_module_pages_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/modules");
    let mut examples = 0;
    for entry in fs::read_dir(folder).expect("the folder of pages") {
        let path = entry.expect("an entry").path();
        let page = fs::read_to_string(&path).expect("a page");
        for block in page.split("```javascript\n").skip(1) {
            let script = block.split("\n```").next().unwrap_or_default();
            examples += 1;
            case(script).both(|report| {
                report.assert_clean();
                let (held, checks) = report.rate(builtin::CHECKS);
                assert!(checks > 0 && held == checks, "{} of {}: {report:#?}", path.display(), examples);
            });
        }
    }
    assert!(examples > 1, "pages with examples");
}
