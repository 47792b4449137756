//! Memory of VUs that sleep with one open connection, and how soon all of them are there.

use anyhow::Result;

use super::held::{Script, hold_all, kb_per_vu, ready_s, show};
use crate::bench::{
    client::Client,
    lab::Lab,
    report::{Bound, number},
};

pub(super) const NAME: &str = "memory";

const SCRIPTS: [Script; 3] = [
    Script {
        part: NAME,
        name: "minimal script",
        path: "bench/scripts/idle.js",
        variable: None,
        requests: 1,
        kb_max: Some(8.0),
    },
    Script {
        part: NAME,
        name: "script that imports all modules",
        path: "bench/scripts/idle-imports.js",
        variable: None,
        requests: 1,
        kb_max: Some(8.0 + IMPORTS_KB_MAX),
    },
    Script {
        part: NAME,
        name: "60 lines script",
        path: "examples/typical.js",
        variable: None,
        requests: 2,
        kb_max: Some(20.0),
    },
];

/// The same VUs, without and with reference cycles among what they drop.
const DROPPED: [Script; 2] = [dropping("dropped trees", "trees"), dropping("dropped cycles", "cycles")];
const DROPPED_VUS: u64 = 2_000;
/// Memory of VUs that leave cycles against that of those that do not.
const CYCLES_RATIO_MAX: f64 = 3.0;

const fn dropping(name: &'static str, leave: &'static str) -> Script {
    let variable = Some(("LEAVE", leave));
    Script { part: NAME, name, path: "bench/scripts/cycles.js", variable, requests: 1, kb_max: None }
}

/// What importing every module may add to a VU that uses one of them.
const IMPORTS_KB_MAX: f64 = 1.0;
/// All of the largest number of VUs have sent their first request.
const READY_VUS: u64 = 15_000;
const READY_S_MAX: f64 = 2.0;

const SIZES: [u64; 3] = [1_000, 5_000, READY_VUS];
/// k6 needs gigabytes beyond this.
const K6_VUS_MAX: u64 = 5_000;
const K6_VUS_MAX_QUICK: u64 = 1_000;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let k6_vus_max = lab.options.pick(K6_VUS_MAX_QUICK, K6_VUS_MAX);
    let all = hold_all(lab, &SCRIPTS, &SIZES, k6_vus_max)?;
    for script in SCRIPTS {
        show(lab, script, &SIZES, &all);
    }
    let what = format!("{} VUs have sent their first request", number(READY_VUS as f64));
    lab.report.limit(NAME, what, ready_s(&all, SCRIPTS[0], READY_VUS), Bound::AtMost(READY_S_MAX), " s");
    cycles(lab)
}

/// What the collector leaves uncollected.
fn cycles(lab: &mut Lab) -> Result<()> {
    let all = hold_all(lab, &DROPPED, &[DROPPED_VUS], 0)?;
    for script in DROPPED {
        show(lab, script, &[DROPPED_VUS], &all);
    }
    let [trees, cycles] = DROPPED.map(|script| kb_per_vu(&all, script, Client::Onrush, DROPPED_VUS));
    let what = format!("{} VUs that leave cycles: RSS per VU / of those that do not", number(DROPPED_VUS as f64));
    let ratio = cycles.zip(trees).map(|(cycles, trees)| cycles / trees);
    lab.report.limit(NAME, what, ratio, Bound::AtMost(CYCLES_RATIO_MAX), "");
    Ok(())
}
