//! What a request costs more when results are pushed to a server meanwhile.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
};

use anyhow::{Context, Result};

use super::comparison::{Comparison, placement, rounds};
use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement},
    report::{Bound, Table, cell, medians},
    series::median_ratio,
    server::{Kind, Server},
};

pub(super) const NAME: &str = "outputs";

const VUS: u64 = 100;
/// CPU of a request with an output against that without.
const RATIO_MAX: f64 = 1.03;

/// Outputs by what is common to their names, and the flags that ask for them.
const OUTPUTS: [(&str, &[&str]); 4] = [
    ("none", &[]),
    ("prometheus-rw", &["--out", "experimental-prometheus-rw"]),
    ("influxdb", &["--out", "influxdb"]),
    ("opentelemetry", &["--out", "opentelemetry"]),
];

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let mut server = Server::start(lab, Kind::Target)?;
    let receiver = receiver()?;
    let pinned = lab.machine.cpus > 1;
    let url = server.url(server.kind.small());
    let mut comparisons = OUTPUTS.map(|(name, flags)| {
        let load = Load {
            script: "bench/scripts/outputs.js",
            env: vec![("URL", url.clone())],
            settings: vec![
                ("K6_PROMETHEUS_RW_SERVER_URL", format!("http://{receiver}/api/v1/write")),
                ("K6_INFLUXDB_ADDR", format!("http://{receiver}")),
                ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf".to_owned()),
                ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", receiver.to_string()),
                ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true".to_owned()),
            ],
            vus: Some(VUS),
            seconds: lab.options.pick(4, 20),
            flags,
            pinned,
            ..Load::default()
        };
        Comparison::new(NAME, name, load, &[Client::Onrush, Client::K6])
    });
    rounds(lab, &mut server, comparisons.iter_mut().collect())?;
    let mut table = Table::new(
        format!("A request with an output, {VUS} VUs, {}: {}", placement(pinned), medians(lab.options.rounds())),
        &["output", "Onrush, CPU µs", "to none", "MB", "k6, CPU µs", "to none", "MB"],
    );
    let to_none = |comparison: &Comparison, client| {
        let [with, without] = [comparison, &comparisons[0]].map(|one| one.values(client, Measurement::cpu_us));
        median_ratio(&with, &without)
    };
    for comparison in &comparisons {
        let cpu = |client| cell(comparison.median(client, Measurement::cpu_us));
        let memory = |client| cell(comparison.median(client, Measurement::rss_mb));
        table.row([
            comparison.setup.clone(),
            cpu(Client::Onrush),
            cell(to_none(comparison, Client::Onrush)),
            memory(Client::Onrush),
            cpu(Client::K6),
            cell(to_none(comparison, Client::K6)),
            memory(Client::K6),
        ]);
    }
    table.note("The receiver takes everything. CPU is that of the client alone, with its output.");
    let ratios: Vec<_> = comparisons[1..].iter().map(|one| (one.setup.clone(), to_none(one, Client::Onrush))).collect();
    lab.report.table(table);
    for (name, ratio) in ratios {
        lab.report.limit(NAME, format!("{name}: CPU per request / without"), ratio, Bound::AtMost(RATIO_MAX), "");
    }
    Ok(())
}

/// Starts something that takes all requests and tells what k6's clients of InfluxDB and OpenTelemetry want to hear; its threads live until
/// the process ends.
fn receiver() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen on 127.0.0.1")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    Ok(address)
}

/// Answers requests until the peer is gone.
fn serve(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let is_query = line.contains("/query");
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).ok()?;
        let answer = match is_query {
            true => "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"results\":[{}]}",
            false => "HTTP/1.1 204 No Content\r\n\r\n",
        };
        stream.write_all(answer.as_bytes()).ok()?;
    }
}
