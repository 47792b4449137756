//! h2load: nghttp2's, in C++; HTTP/1.1 and HTTP/2.

use std::process::Command;

use anyhow::Result;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Protocol},
    shop::Shop,
    text::{milliseconds, number},
};

#[derive(Debug)]
pub(super) struct H2load;

impl Adapter for H2load {
    fn name(&self) -> &'static str {
        "h2load"
    }

    fn about(&self) -> &'static str {
        "C++; flags"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        shop.debian("h2load", "nghttp2-client", "--version")
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: true, rates: false, scripts: false }.enough_for(job)?;
        let mut command = Command::new(&program.path);
        // One request at a time on each connection, as users do it.
        command.args(["-t1", "-m1", "-c", &job.load.users().to_string(), "-D", &job.seconds.to_string()]);
        if job.protocol != Protocol::Http2 {
            command.arg("--h1");
        }
        command.arg(job.url());
        Ok(Run::new(command))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        let text = &output.stdout;
        let finished = text.lines().find_map(|line| line.strip_prefix("finished in "))?;
        let rps = finished.split(", ").find_map(|part| number(part.strip_suffix(" req/s")?));
        // requests: 2520 total, 2540 started, 2520 done, 2520 succeeded, …
        let requests = text.lines().find_map(|line| line.strip_prefix("requests: "));
        let count = |name: &str| requests?.split(", ").find_map(|part| number(part.strip_suffix(name)?.trim()));
        // min, max, mean, …
        let times = text.lines().find_map(|line| line.strip_prefix("time for request:"))?;
        Some(Claim {
            requests: count("done"),
            rps: Some(rps?),
            errors: count("done").zip(count("succeeded")).map(|(done, good)| done - good),
            mean: times.split_whitespace().nth(2).and_then(milliseconds),
            ..Claim::default()
        })
    }

    fn quirks(&self) -> &'static [&'static str] {
        &["prints no percentiles"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, printed};

    #[test]
    fn its_report() {
        check(
            H2load.claim(&job(), &printed(include_str!("../recorded/h2load.txt"))),
            "requests=2520 rps=1260 errors=0 mean_ms=15.81",
        );
    }
}
