//! Which VU layout a script gets, and that the run says why.

use crate::program::Program;

const PLAIN: &str = "export default function () {}";
const PATCHES: &str = "String.prototype.shout = function () { return this.toUpperCase(); };\nexport default function () { console.log('hey'.shout()); }";

#[test]
fn dense_unless_the_script_changes_built_ins() {
    Program::script(&[], PLAIN).run().expect(0).expect_output("vu layout: dense (default)");
    let done = Program::script(&[], PATCHES).run().expect(0).expect_log("msg=HEY");
    done.expect_output("vu layout: isolated (the script changes String.prototype.shout at file:///")
        .expect_output("script.js:1:1)");
}

#[test]
fn what_only_shows_when_init_code_runs_is_found_as_well() {
    let script = "const target = [String][0].prototype; target['sh' + 'out'] = () => 1;\nexport default function () { console.log('x'.shout()); }";
    Program::script(&[], script)
        .run()
        .expect(0)
        .expect_log("msg=1")
        .expect_output("vu layout: isolated (init code changes the shared built-in property 'shout')");
}

#[test]
fn the_user_decides() {
    let asked = "(asked for with --vu-isolation)";
    Program::script(&["--vu-isolation=isolated"], PLAIN)
        .run()
        .expect(0)
        .expect_output(&format!("vu layout: isolated {asked}"));
    Program::script(&[], PLAIN)
        .env("ONRUSH_VU_ISOLATION", "isolated")
        .run()
        .expect(0)
        .expect_output(&format!("vu layout: isolated {asked}"));
    Program::script(&["--vu-isolation=dense"], PATCHES)
        .run()
        .expect(107)
        .expect_log("cannot change shared built-in property 'shout'");
}

#[test]
fn refused_writes_of_iterations_are_reported() {
    let script = "export const options = { iterations: 3 };\nexport default function () { const name = 'pro' + 'totype'; Map[name].extra = 1; }";
    let done = Program::script(&["--vu-isolation=dense"], script).run().expect(0).expect_log("--vu-isolation");
    done.expect_log("3 writes to built-ins that VUs share were refused, the last to 'extra'");
}
