//! Apache JMeter: Java, plans in XML, a thread a user. Put together from its jars, since only those are in Maven.

use std::{fs, process::Command};

use anyhow::{Context, Result};
use xtask::packages::find;

use super::reason::Has;
use crate::lab::{
    adapter::{Adapter, Claim, Output, Program, Run},
    job::{Job, Load, Step},
    shop::{Artifact, Shop},
    statistics::{mean, percentile},
};

#[derive(Debug)]
pub(super) struct Jmeter;

impl Adapter for Jmeter {
    fn name(&self) -> &'static str {
        "jmeter"
    }

    fn about(&self) -> &'static str {
        "Java; XML, Groovy"
    }

    fn install(&self, shop: &Shop) -> Result<Program> {
        let artifact = |name| Artifact { group: "org.apache.jmeter", name, version: VERSION, without: Some(BOM) };
        // Without the functions plans cannot say `${__P()}`, and plans of others do.
        let names = ["ApacheJMeter_http", "ApacheJMeter_config", "ApacheJMeter_functions", "ApacheJMeter_components"];
        let program = shop.maven("jmeter", VERSION, &names.map(artifact))?;
        // What its archive would look like: the launcher in bin, plug-ins in lib/ext.
        let home = &program.path;
        for folder in ["bin", "lib/ext", "lib/junit"] {
            fs::create_dir_all(home.join(folder)).with_context(|| format!("cannot make {folder}"))?;
        }
        for entry in fs::read_dir(home.join("lib")).context("cannot look at the jars of JMeter")? {
            let path = entry.context("cannot look at the jars of JMeter")?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let to = match name.strip_suffix(".jar") {
                Some(jar) if jar == format!("ApacheJMeter-{VERSION}") => home.join("bin/ApacheJMeter.jar"),
                Some(jar) if jar.starts_with("ApacheJMeter_") => home.join("lib/ext").join(&name),
                _ => continue,
            };
            fs::rename(&path, to).with_context(|| format!("cannot move {name}"))?;
        }
        // Its settings are in a jar, too.
        let mut unpack = Command::new(find("jar").context("jar is missing: install a JDK")?);
        unpack.args(["-xf", &format!("lib/ext/ApacheJMeter_config-{VERSION}.jar"), "bin"]);
        shop.built("jmeter", VERSION, &[], "bin/log4j2.xml", unpack)?;
        Ok(program)
    }

    fn run(&self, program: &Program, job: &Job) -> Result<Run, &'static str> {
        Has { http2: false, rates: true, scripts: true }.enough_for(job)?;
        let mut command = Command::new("java");
        command.args(["-XX:+UseG1GC", "-Xms512m", "-Xmx2g", "-jar"]).arg(program.path.join("bin/ApacheJMeter.jar"));
        command.arg("-d").arg(&program.path).args(["-n", "-t", "plan.jmx", "-l", "results.csv", "-j", "jmeter.log"]);
        command.arg("-Jjmeter.save.saveservice.output_format=csv");
        // The idle threads of its open model live for a minute, and it with them.
        command.arg("-Jjmeterengine.force.system.exit=true");
        Ok(Run::new(command).file("plan.jmx", plan(job)))
    }

    fn claim(&self, _: &Job, output: &Output) -> Option<Claim> {
        claim(&output.file("results.csv"))
    }

    fn quirks(&self) -> &'static [&'static str] {
        &[
            "JVM: start and compilation are part of a short run",
            "latencies in whole milliseconds, without the time between a user's samples",
            "its figures are computed from its CSV of all samples",
        ]
    }
}

fn claim(csv: &str) -> Option<Claim> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next()?.split(',').collect();
    let position = |name: &str| names.iter().position(|known| *known == name);
    let (elapsed, stamp, success) = (position("elapsed")?, position("timeStamp")?, position("success")?);
    let (mut times, mut bad, mut first, mut last) = (Vec::new(), 0.0, f64::MAX, 0.0_f64);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields.get(index)?.parse::<f64>().ok();
        let (Some(time), Some(at)) = (number(elapsed), number(stamp)) else { continue };
        times.push(time);
        (first, last) = (first.min(at), last.max(at + time));
        bad += if fields.get(success) == Some(&"true") { 0.0 } else { 1.0 };
    }
    times.sort_by(f64::total_cmp);
    let seconds = (last - first) / 1e3;
    Some(Claim {
        requests: Some(times.len() as f64),
        rps: Some(times.len() as f64 / seconds).filter(|rate| rate.is_finite()),
        errors: Some(bad),
        mean: Some(mean(&times)?),
        p50: percentile(&times, 0.5),
        p90: percentile(&times, 0.9),
        p95: percentile(&times, 0.95),
        p99: percentile(&times, 0.99),
        p999: percentile(&times, 0.999),
    })
}

fn plan(job: &Job) -> String {
    let group = match job.load {
        Load::Closed { users } => format!(
            "<ThreadGroup guiclass=\"ThreadGroupGui\" testclass=\"ThreadGroup\" testname=\"users\">\
             <stringProp name=\"ThreadGroup.on_sample_error\">continue</stringProp>\
             <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
             <boolProp name=\"LoopController.continue_forever\">false</boolProp><intProp name=\"LoopController.loops\">-1</intProp>\
             </elementProp><stringProp name=\"ThreadGroup.num_threads\">{users}</stringProp>\
             <stringProp name=\"ThreadGroup.ramp_time\">0</stringProp><boolProp name=\"ThreadGroup.scheduler\">true</boolProp>\
             <stringProp name=\"ThreadGroup.duration\">{seconds}</stringProp><stringProp name=\"ThreadGroup.delay\">0</stringProp>\
             <boolProp name=\"ThreadGroup.same_user_on_next_iteration\">true</boolProp></ThreadGroup>",
            seconds = job.seconds
        ),
        Load::Open { rate, .. } => format!(
            "<OpenModelThreadGroup guiclass=\"OpenModelThreadGroupGui\" testclass=\"OpenModelThreadGroup\" testname=\"arrivals\">\
             <elementProp name=\"ThreadGroup.main_controller\" elementType=\"OpenModelThreadGroupController\"/>\
             <stringProp name=\"OpenModelThreadGroup.schedule\">rate({rate}/s) even_arrivals({} s)</stringProp>\
             <stringProp name=\"ThreadGroup.on_sample_error\">continue</stringProp></OpenModelThreadGroup>",
            job.seconds
        ),
    };
    let samplers: String = job.steps.iter().map(|step| sampler(job, step)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"{VERSION}\"><hashTree>\
         <TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"lab\"><elementProp name=\"TestPlan.user_defined_variables\" \
         elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\"/></elementProp></TestPlan><hashTree>\n{group}\n<hashTree>\n\
         {samplers}</hashTree></hashTree></hashTree></jmeterTestPlan>\n"
    )
}

fn sampler(job: &Job, step: &Step) -> String {
    let (method, body) = match step.form {
        None => ("GET", String::new()),
        Some(form) => (
            "POST",
            format!(
                "<elementProp name=\"\" elementType=\"HTTPArgument\"><stringProp name=\"Argument.value\">{}</stringProp>\
                 <stringProp name=\"Argument.metadata\">=</stringProp></elementProp>",
                form.replace('&', "&amp;")
            ),
        ),
    };
    let assertions = step.contains.map_or_else(String::new, |text| {
        format!(
            "<ResponseAssertion guiclass=\"AssertionGui\" testclass=\"ResponseAssertion\" testname=\"text\">\
             <collectionProp name=\"Asserion.test_strings\"><stringProp name=\"1\">{text}</stringProp></collectionProp>\
             <stringProp name=\"Assertion.test_field\">Assertion.response_data</stringProp>\
             <intProp name=\"Assertion.test_type\">16</intProp></ResponseAssertion><hashTree/>"
        )
    });
    format!(
        "<HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"{path}\">\
         <boolProp name=\"HTTPSampler.postBodyRaw\">{raw}</boolProp>\
         <elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{body}\
         </collectionProp></elementProp><stringProp name=\"HTTPSampler.domain\">{host}</stringProp>\
         <stringProp name=\"HTTPSampler.port\">{port}</stringProp><stringProp name=\"HTTPSampler.protocol\">{scheme}</stringProp>\
         <stringProp name=\"HTTPSampler.path\">{path}</stringProp><stringProp name=\"HTTPSampler.method\">{method}</stringProp>\
         <boolProp name=\"HTTPSampler.follow_redirects\">false</boolProp><boolProp name=\"HTTPSampler.use_keepalive\">true</boolProp>\
         <stringProp name=\"HTTPSampler.implementation\">HttpClient4</stringProp></HTTPSamplerProxy><hashTree>{assertions}</hashTree>\n",
        path = step.path,
        raw = step.form.is_some(),
        host = job.address.ip(),
        port = job.address.port(),
        scheme = job.protocol.scheme(),
    )
}

const VERSION: &str = "5.6.3";
/// Is named by JMeter's packages and not in Maven.
const BOM: (&str, &str) = ("org.apache.jmeter", "bom");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::adapters::recorded::{check, job, wrote};

    #[test]
    fn its_report() {
        let (_folder, output) = wrote("results.csv", include_str!("../recorded/jmeter.txt"));
        check(
            Jmeter.claim(&job(), &output),
            "requests=39 rps=61.321 errors=0 mean_ms=137.846 p50_ms=10 p90_ms=580 p95_ms=617 p99_ms=625 p999_ms=625",
        );
    }
}
