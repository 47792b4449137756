//! What it costs to ask the kernel when responses arrived: the generator's own delay is known by it.

use anyhow::Result;

use super::duel::{self, Manner};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::Load,
    process::Usage,
    report::{Bound, Table, cell},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "own-delay";

const VUS: u64 = 100;
/// CPU of a request where some connections are asked, as they are by default, against one where none is.
const RATIO_MAX: f64 = 1.01;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut table = Table::new(
        format!(
            "A request and a check while the own delay is measured, {VUS} VUs: CPU / that with --own-delay=off, both at once"
        ),
        &["server", "by default", "--own-delay=all"],
    );
    for kind in [Kind::Nginx, Kind::Target] {
        let server = Server::start(lab, kind)?;
        let load = |flags: &'static [&'static str]| Load {
            script: "bench/scripts/params.js",
            env: vec![("URL", server.url(server.kind.small())), ("KIND", "check".to_owned())],
            vus: Some(VUS),
            seconds: lab.options.pick(2, 5),
            pinned: lab.machine.cpus > 1,
            flags,
            ..Load::default()
        };
        let [off, default, all] = [&["--own-delay=off"] as &[_], &[], &["--own-delay=all"]].map(load);
        let mut ratio = |name: &str, asking: &Load| {
            let setup = format!("{}, {name} / off", kind.name());
            let sides = [(Client::Onrush, asking), (Client::Onrush, &off)];
            duel::ratio(lab, &server, (NAME, &setup), Manner::AtOnce, sides, "http_reqs", Usage::cpu)
        };
        let (default, all) = (ratio("default", &default)?, ratio("all", &all)?);
        table.row([kind.name().to_owned(), cell(default), cell(all)]);
        let what = format!("{}: CPU of a request with a check, by default / off", kind.name());
        lab.report.limit(NAME, what, default, Bound::AtMost(RATIO_MAX), "");
    }
    lab.report.table(table);
    Ok(())
}
