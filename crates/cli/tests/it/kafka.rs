//! `--out kafka` to a broker of the tests' own: a message for each sample, in both formats; nothing is lost while the broker is away,
//! and what it lacks or has twice is told exactly.

use std::{
    collections::BTreeSet,
    path::Path,
    time::{Duration, Instant},
};

use onrush_testkit::{ApacheKafka, GoodServer, KafkaBroker, KafkaMood, Reply};
use serde_json::Value;

use crate::{
    program::{Done, Program},
    server::{SCRIPT, free_address},
};

fn run(out: &str, flags: &[&str], script: &str) -> Done {
    let flags = [&["--out", out, "--summary-export", "s.json"], flags].concat();
    Program::script(&flags, script).run()
}

fn out(broker: &KafkaBroker, rest: &str) -> String {
    format!("kafka=brokers={{{}}},topic=k6{rest}", broker.address())
}

/// A number that the log says between two texts, the last time.
fn told(done: &Done, before: &str, after: &str) -> Option<u64> {
    let at = done.stderr.rfind(before)? + before.len();
    done.stderr[at..].split_once(after)?.0.parse().ok()
}

/// How many samples the broker lacks, of how many.
fn lacking(done: &Done) -> (u64, u64) {
    let lacks = told(done, " lacks ", " of ").unwrap_or_else(|| panic!("{}", done.stderr));
    (lacks, told(done, &format!(" lacks {lacks} of "), " samples").expect("a number"))
}

fn points(broker: &KafkaBroker) -> Vec<Value> {
    assert!(broker.problems().is_empty(), "{:?}", broker.problems());
    broker.messages().iter().map(|message| serde_json::from_str(&message.value).expect("JSON")).collect()
}

#[test]
fn a_message_for_each_sample() {
    let server = GoodServer::start(|_| Reply::text("hello"));
    let script = "import http from 'k6/http'; import { Trend } from 'k6/metrics';
        const own = new Trend('own');
        export const options = { vus: 3, iterations: 300, tags: { testid: 'a \"b\"' } };
        export default function () { http.get(__ENV.URL); own.add(1.5); own.add(Infinity); }
        export function teardown() { http.get(__ENV.URL); }";
    let url = format!("URL={}", server.url("/"));
    for agents in [&[][..], &["--agents", "2"]] {
        let broker = KafkaBroker::start(3, None);
        let done = run(&out(&broker, ""), &[&["-e", &url][..], agents].concat(), script).expect(0);
        assert!(!done.stderr.contains("lacks"), "{}", done.stderr);
        let done = done.expect_output(&format!("output: kafka (k6 at {})", broker.address()));
        let (summary, points) = (&done.json("s.json")["metrics"], points(&broker));
        let count = |metric: &str| points.iter().filter(|point| point["metric"] == metric).count() as u64;
        let of = |metric: &str| summary[metric]["count"].as_u64().expect(metric);
        assert_eq!((count("iterations"), of("iterations")), (300, 300));
        assert_eq!((count("http_reqs"), of("http_reqs")), (301, 301));
        assert_eq!((count("http_req_duration"), count("own"), count("checks")), (301, 600, 0));
        let sent: f64 = points
            .iter()
            .filter(|point| point["metric"] == "data_sent")
            .filter_map(|point| point["data"]["value"].as_f64())
            .sum();
        assert_eq!(sent as u64, of("data_sent"));
        let messages = broker.messages();
        let request = messages.iter().find(|message| message.value.contains("\"http_reqs\"")).expect("a request");
        assert!(request.value.starts_with("{\"type\":\"Point\",\"data\":{\"time\":\"20"), "{}", request.value);
        assert!(request.value.ends_with("},\"metric\":\"http_reqs\"}"), "{}", request.value);
        let tags = serde_json::from_str::<Value>(&request.value).expect("JSON")["data"]["tags"].clone();
        assert_eq!(
            (&tags["status"], &tags["testid"], &tags["method"]),
            (&"200".into(), &"a \"b\"".into(), &"GET".into())
        );
        assert!(messages.iter().all(|message| message.key.is_none() && message.topic == "k6" && message.codec == 0));
        // Of each second, not of each sample.
        assert!(broker.batches() < 40, "{}", broker.batches());
    }
}

#[test]
fn lines_of_influxdb_and_compression() {
    let script = "import { Counter, Trend } from 'k6/metrics';
        const [c, t] = [new Counter('count'), new Trend('trend')];
        export const options = { iterations: 50 };
        export default function () { c.add(2, { 'a b': 'x,y', url: 'http://h/\"q\"', n: '5' }); t.add(Infinity); t.add(0.5); }";
    for (compression, codec) in [("gzip", 1), ("zstd", 4)] {
        let broker = KafkaBroker::start(1, None);
        let rest = format!(",format=influxdb,influxdb.tagsAsFields={{url,n:int}},compression={compression},acks=all");
        let done = run(&out(&broker, &rest), &["-q"], script).expect(0);
        assert!(broker.problems().is_empty(), "{:?}", broker.problems());
        let messages = broker.messages();
        assert!(messages.iter().all(|message| message.codec == codec));
        let of = |name: &str| messages.iter().filter(|message| message.value.starts_with(name)).collect::<Vec<_>>();
        let counter = of("count,");
        assert_eq!((counter.len(), of("trend,").len(), of("iterations,").len()), (50, 50, 50));
        let line = &counter[0].value;
        let start = "count,a\\ b=x\\,y,scenario=default value=2,n=5i,url=\"http://h/\\\"q\\\"\" ";
        let time = line.strip_prefix(start).unwrap_or_else(|| panic!("{line}"));
        // The message has the time of its sample as well.
        let (ns, ms): (i64, _) = (time.parse().expect("a number"), counter[0].unix_ms);
        assert_eq!(ns / 1_000_000, ms);
        let (lacks, of) = lacking(&done);
        assert_eq!((lacks, of), (50, messages.len() as u64 + 50));
        done.expect_log("(of these 50 have values that the format has no way to write)");
    }
}

#[test]
fn who_writes_is_asked_and_never_shown() {
    let broker = KafkaBroker::start(1, Some(("ann", "s3cret-word")));
    let login = ",auth_mechanism=plain,user=ann,password=";
    let script = "export const options = { iterations: 5 }; export default function () {}";
    let done = run(&out(&broker, &format!("{login}s3cret-word")), &[], script).expect(0);
    assert!(!done.stderr.contains("lacks"), "{}", done.stderr);
    let all = points(&broker).len();
    assert!(all >= 10, "{all}");
    let wrong = run(&out(&broker, &format!("{login}wr0ng-word")), &[], script).expect(0);
    let (lacks, of) = lacking(&wrong);
    assert_eq!(lacks, of);
    let wrong = wrong.expect_log("[58] SASL Authentication Failed: Invalid username or password");
    let none = run(&out(&broker, ""), &[], script).expect(0);
    assert_eq!(lacking(&none).0, lacking(&none).1);
    assert_eq!(broker.messages().len(), all);
    for text in [&done.stderr, &done.stdout, &wrong.stderr, &wrong.stdout] {
        assert!(!text.contains("s3cret") && !text.contains("wr0ng"), "{text}");
    }
    // The verdict on the measurement says it as well.
    assert!(wrong.stdout.contains(&format!("outputs lack {lacks} samples that the summary has")), "{}", wrong.stdout);
}

#[test]
fn brokers_that_are_dead_or_silent_cost_the_run_nothing() {
    let silent = KafkaBroker::start(1, None);
    silent.set_mood(KafkaMood::IsSilent);
    let start = Instant::now();
    let dead = format!("kafka=brokers={},topic=k6", free_address());
    let done = run(&dead, &["-q", "--out", &out(&silent, "")], SCRIPT).expect(0);
    // Four seconds of the run; the two are given up at the same time.
    assert!(start.elapsed() < Duration::from_secs(32), "{:?}", start.elapsed());
    let all = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
    // Four VUs that sleep 20 ms for 4 s: one that waited for a broker would have made next to none.
    assert!(all > 400, "{all}");
    let (lacks, of) = lacking(&done);
    assert_eq!(lacks, of);
    assert_eq!(done.stderr.matches(&format!(" lacks {of} of {of} samples: ")).count(), 2, "{}", done.stderr);
    done.expect_log("takes nothing: ").expect_log("connection refused");
}

#[test]
fn a_broker_that_is_killed_and_comes_back_lacks_nothing() {
    let mut broker = KafkaBroker::start(2, None);
    let out = out(&broker, "");
    let run = std::thread::spawn(move || run(&out, &["-q", "-e", "DURATION=8s"], NUMBERED));
    std::thread::sleep(Duration::from_secs(4));
    broker.kill();
    let before = broker.messages().len();
    std::thread::sleep(Duration::from_secs(2));
    broker.start_again();
    let done = run.join().expect("no panic").expect(0);
    assert!(!done.stderr.contains("lacks"), "{}", done.stderr);
    let all = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
    let numbers: Vec<u64> = numbers(&broker);
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len() as u64, all);
    // A batch whose answer was lost is there twice, and that is told.
    let twice = told(&done, "may have ", " samples twice").unwrap_or(0);
    assert!(numbers.len() as u64 - all <= twice, "{} of {all}, {twice}", numbers.len());
    assert!(before > 0 && broker.messages().len() > before);
    done.expect_log("takes nothing: ").expect_log("takes what it is sent again, after ");
}

#[test]
fn what_a_killed_broker_lacks_is_told_exactly() {
    let mut broker = KafkaBroker::start(2, None);
    let out = out(&broker, "");
    let run = std::thread::spawn(move || run(&out, &["-q", "-e", "DURATION=6s"], NUMBERED));
    std::thread::sleep(Duration::from_secs(4));
    broker.kill();
    let done = run.join().expect("no panic").expect(0);
    let (lacks, of) = lacking(&done);
    let unconfirmed = told(&done, "(of these ", " were sent without an answer").unwrap_or(0);
    let has = broker.messages().len() as u64;
    assert!(has > 0 && lacks > 0);
    assert!((of - lacks..=of - lacks + unconfirmed).contains(&has), "{has}: {}", done.stderr);
}

#[test]
fn what_was_sent_again_is_told() {
    let broker = KafkaBroker::start(1, None);
    broker.set_mood(KafkaMood::TakesAndHangsUp);
    let done = run(&out(&broker, ""), &["-q", "-e", "DURATION=2s"], NUMBERED).expect(0);
    let messages = broker.messages();
    // Of each iteration five samples, and those of two iterations may read the same; the others are of a second.
    let each = ["iterations", "iteration_duration", "data_sent", "data_received", "number"]
        .map(|name| format!("\"metric\":\"{name}\""));
    let (_, others): (Vec<_>, Vec<&str>) = messages
        .iter()
        .map(|message| message.value.as_str())
        .partition(|text| each.iter().any(|name| text.contains(name)));
    let iterations = done.json("s.json")["metrics"]["iterations"]["count"].as_u64().expect("a count");
    let once = 5 * iterations + others.iter().collect::<BTreeSet<_>>().len() as u64;
    let twice = messages.len() as u64 - once;
    assert!(twice > 0);
    assert_eq!(told(&done, "may have ", " samples twice"), Some(twice), "{}", done.stderr);
    assert!(!done.stderr.contains("lacks"), "{}", done.stderr);
}

#[test]
fn what_is_refused_is_told_and_the_run_goes_on() {
    let broker = KafkaBroker::start(1, None);
    broker.set_mood(KafkaMood::Refuses(29));
    let done = run(&out(&broker, ""), &["-q", "-e", "DURATION=2s"], NUMBERED).expect(0);
    let (lacks, of) = lacking(&done);
    assert_eq!(lacks, of);
    assert!(broker.messages().is_empty());
    let done = done.expect_log("refused samples, which it lacks: [29] Topic Authorization Failed");
    done.expect_log(&format!(" lacks {of} of {of} samples: [29] Topic Authorization Failed"));
    // Who does not want to read that reads it once.
    let quiet = run(&out(&broker, ",logError=false"), &["-q", "-e", "DURATION=2s"], NUMBERED).expect(0);
    assert_eq!(quiet.stderr.matches("Topic Authorization Failed").count(), 1, "{}", quiet.stderr);
}

#[test]
fn what_cannot_be_is_refused() {
    let check = |flags: &[&str], expect: &str| {
        Program::script(flags, SCRIPT).run().expect(255).expect_log(expect);
    };
    let known = "the keys are brokers, topic, format, pushInterval, user, password, auth_mechanism, ssl, ";
    check(
        &["--out", "kafka=brokers=a,topic=t,color=red"],
        "could not create the 'kafka' output: Unknown or unparsed options 'color'",
    );
    check(&["--out", "xk6-kafka=brokers=a,topic=t,color=red"], known);
    check(&["--out", "kafka"], "it needs brokers");
    check(
        &["--agents", "2", "--out", "kafka=brokers=a,topic=t", "--out-local"],
        "--out-local: kafka (t at a:9092) has no file",
    );
    let journal = ["coordinator", "--agents", "2", "--journal", "j", "--out", "kafka=brokers=a,topic=t", "script.js"];
    let done = Program::new(&journal).file("script.js", SCRIPT).run().expect(255);
    done.expect_log("--out of every sample at the coordinator is not available yet with --journal");
}

/// Each iteration has a number of its own.
const NUMBERED: &str = "
    import { sleep } from 'k6';
    import { Counter } from 'k6/metrics';
    import exec from 'k6/execution';
    const number = new Counter('number');
    export const options = { vus: 4, duration: __ENV.DURATION };
    export default function () { number.add(exec.scenario.iterationInTest); sleep(0.01); }";

fn numbers(broker: &KafkaBroker) -> Vec<u64> {
    let points = points(broker);
    let own = points.iter().filter(|point| point["metric"] == "number");
    own.map(|point| point["data"]["value"].as_u64().expect("a number")).collect()
}

/// Apache Kafka itself, where Java and Maven are there: what it takes is read again by a script.
#[test]
fn a_real_cluster_takes_and_gives_back_all() {
    let Some(server) = ApacheKafka::shared(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let scram = |hash: &str| format!(",auth_mechanism=scram-sha-{hash},user=bob,password=s3cret");
    let plain = ",auth_mechanism=plain,user=alice,password=secret".to_owned();
    for (name, address, rest) in [
        ("plain", &server.plain, String::new()),
        ("snappy", &server.plain, ",compression=snappy,acks=all".to_owned()),
        ("lz4", &server.tls, ",compression=lz4,ssl=true".to_owned()),
        ("zstd", &server.sasl, format!(",compression=zstd{}", scram("256"))),
        ("gzip", &server.sasl, format!(",compression=gzip{}", scram("512"))),
        ("login", &server.sasl, plain),
    ] {
        let out = format!("kafka=brokers={address},topic=out-{name}{rest}");
        let script = "export const options = { vus: 5, iterations: 2000 }; export default function () {}";
        let done = Program::script(&["-q", "--out", &out, "--summary-export", "s.json"], script)
            .file("ca.pem", &server.ca_pem)
            .env("SSL_CERT_FILE", "ca.pem")
            .run()
            .expect(0);
        assert!(!done.stderr.contains("lacks"), "{name}: {}", done.stderr);
        let reading = format!(
            "import {{ Reader }} from 'k6/x/kafka';
             export default function () {{
               const reader = new Reader({{ brokers: ['{}'], topic: 'out-{name}', partition: 0, maxWait: '2s' }});
               const texts = reader.consume({{ limit: 100000, expectTimeout: true }}).map((m) => String.fromCharCode(...m.value));
               const points = texts.map((text) => JSON.parse(text));
               const count = (metric) => points.filter((point) => point.type === 'Point' && point.metric === metric).length;
               console.log(`has ${{count('iterations')}} and ${{count('iteration_duration')}}`);
             }}",
            server.plain
        );
        Program::script(&["-q"], &reading).run().expect(0).expect_log("has 2000 and 2000");
    }
    // Nobody is let in who does not know the word, or whose certificate nobody knows.
    for (address, rest, why) in [
        (&server.sasl, ",auth_mechanism=scram-sha-256,user=bob,password=wr0ng", "[58] SASL Authentication Failed"),
        (&server.tls, ",ssl=true", "certificate"),
    ] {
        let out = format!("kafka=brokers={address},topic=refused{rest}");
        let done = Program::script(&["-q", "--out", &out], "export default function () {}").run().expect(0);
        let (lacks, of) = lacking(&done);
        assert_eq!(lacks, of);
        let done = done.expect_log(why);
        assert!(!done.stderr.contains("wr0ng"), "{}", done.stderr);
    }
}
