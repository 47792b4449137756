//! `onrush target`: the built-in system under test.

use std::{
    fs::File,
    io::{BufWriter, Write},
    net::SocketAddr,
    str::FromStr,
    time::Duration,
};

use onrush_plan::parse_go_duration;
use onrush_session::ExitCode;
use onrush_testsite::{ClientAuth, Freeze, Record, TargetOptions, TlsSettings};
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{
    args,
    context::Context,
    failure::Failure,
    flags::{self, Command, Flags},
};

/// Runs the target until a signal comes.
///
/// # Errors
/// Addresses that cannot be listened on, and flags that cannot be read.
pub(crate) fn target(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    cx.flags.refuse_unavailable(Command::Target)?;
    if !files.is_empty() {
        return Err(Failure::other(format!("accepts 0 arg(s), received {}", files.len())));
    }
    if !cx.flags.values("address").is_empty() {
        return Err(Failure::other("the target has no REST API, so --address means nothing to it")
            .hint("--listen says where it answers"));
    }
    let options = options(&cx.flags)?;
    // Before it serves: a path that cannot be written is no news for the end.
    let record_file = match cx.flags.text("record") {
        Some(path) => match File::create(&path) {
            Ok(file) => Some((path, file)),
            Err(error) => return Err(Failure::other(format!("failed to create the record '{path}': {error}"))),
        },
        None => None,
    };
    let signals = Signals::new([SIGINT, SIGTERM])
        .map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))?;
    if let Err(error) = onrush_testsite::raise_file_limit() {
        cx.logger.warn(format!("failed to raise the limit of open files: {error}"));
    }
    let (listen, tls_listen) = (options.listen, options.tls_listen);
    let target = onrush_testsite::start(options).map_err(|error| could_not_start(listen, tls_listen, &error))?;
    let certificate = cx.flags.text("certificate-out");
    if let (Some(path), Some(pem)) = (&certificate, &target.certificate_pem) {
        std::fs::write(path, pem)
            .map_err(|error| Failure::other(format!("failed to write the certificate to '{path}': {error}")))?;
    }
    if !cx.flags.switch("quiet")?.unwrap_or(false) {
        cx.terminal.stdout(greeting(&target, certificate.as_deref()));
    }
    let stopper = target.stopper();
    let watcher = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut signals = signals;
        if signals.forever().next().is_some() {
            stopper.stop();
        }
    });
    watcher.map_err(|error| Failure::other(format!("failed to watch for signals: {error}")))?;
    let logger = cx.logger.clone();
    let answered = target.stats_json();
    let record = target.finish().map_err(|error| Failure::other(format!("the target ended: {error}")))?;
    if let Some((path, file)) = record_file {
        write_record(file, &record)
            .map_err(|error| Failure::other(format!("failed to write the record to '{path}': {error}")))?;
        if record.omitted > 0 {
            logger.warn(format!("the record in '{path}' is full: {} later requests are not in it", record.omitted));
        }
    }
    logger.debug(format!("the target stopped; at start its counters were {answered}"));
    Ok(ExitCode::Success)
}

fn options(flags: &Flags) -> Result<TargetOptions, Failure> {
    let address = |long: &str| -> Result<Option<SocketAddr>, Failure> {
        let Some(text) = flags.text(long) else { return Ok(None) };
        // A port alone means loopback.
        let whole = if text.starts_with(':') { format!("127.0.0.1{text}") } else { text.clone() };
        let parsed = whole.replace("localhost:", "127.0.0.1:").parse();
        parsed.map(Some).map_err(|_| {
            Failure::other(format!("invalid address \"{text}\" for --{long}, use IP:PORT such as 127.0.0.1:8080"))
        })
    };
    let defaults = TargetOptions::default();
    let tls_listen = address("tls-listen")?;
    if tls_listen.is_none() && flags.text("certificate-out").is_some() {
        return Err(Failure::other("--certificate-out needs --tls-listen: without HTTPS there is no certificate"));
    }
    Ok(TargetOptions {
        listen: address("listen")?.unwrap_or(defaults.listen),
        tls_listen,
        allow_remote: flags.switch("allow-non-loopback")?.unwrap_or(false),
        threads: args::threads(flags)?.unwrap_or(defaults.threads),
        delay: duration(flags, "delay")?.unwrap_or_default(),
        freeze: freeze(flags)?,
        record: flags.text("record").is_some(),
        accept_fault: named(flags, "fault-accept")?,
        handshake_fault: named(flags, "fault-handshake")?,
        http2: !flags.switch("no-http2")?.unwrap_or(false),
        tls: tls(flags)?,
        ..defaults
    })
}

/// The flags that begin with `tls-`, but for the address.
fn tls(flags: &Flags) -> Result<TlsSettings, Failure> {
    let client_auth = match flags.text("tls-client-ca") {
        None if flags.switch("tls-client-optional")?.unwrap_or(false) => {
            return Err(Failure::other(
                "--tls-client-optional needs --tls-client-ca: whose certificates may clients show?",
            ));
        }
        None => None,
        Some(path) => {
            let authorities_pem = std::fs::read_to_string(&path)
                .map_err(|error| Failure::other(format!("failed to read the authority '{path}': {error}")))?;
            let required = !flags.switch("tls-client-optional")?.unwrap_or(false);
            Some(ClientAuth { authorities_pem, required })
        }
    };
    let staple = named(flags, "tls-staple")?;
    Ok(TlsSettings {
        names: flags.values("tls-name"),
        client_auth,
        versions: flags.values("tls-version"),
        cipher_suites: flags.values("tls-cipher-suite"),
        staple,
        tickets: !flags.switch("tls-no-tickets")?.unwrap_or(false),
    })
}

/// What a flag names.
fn named<T: FromStr<Err = &'static str>>(flags: &Flags, long: &str) -> Result<Option<T>, Failure> {
    let Some(text) = flags.text(long) else { return Ok(None) };
    let read = text.parse().map(Some);
    read.map_err(|why| Failure::other(format!("invalid value \"{text}\" for --{long}: {why}")))
}

/// `--freeze` and `--freeze-every`, which need each other.
fn freeze(flags: &Flags) -> Result<Option<Freeze>, Failure> {
    match (duration(flags, "freeze")?, duration(flags, "freeze-every")?) {
        (None, None) => Ok(None),
        (Some(length), Some(every)) if Duration::ZERO < length && length < every => Ok(Some(Freeze { length, every })),
        (Some(_), Some(_)) => Err(Failure::other("--freeze must be more than nothing and less than --freeze-every")),
        _ => Err(Failure::other("--freeze and --freeze-every need each other: how long, and how often?")),
    }
}

/// One line a request.
fn write_record(file: File, record: &Record) -> std::io::Result<()> {
    let mut writer = BufWriter::new(file);
    for arrival in &record.arrivals {
        writeln!(writer, "{arrival}")?;
    }
    writer.flush()
}

fn duration(flags: &Flags, long: &str) -> Result<Option<Duration>, Failure> {
    let (Some(text), Some(flag)) = (flags.text(long), flags::find(long)) else { return Ok(None) };
    parse_go_duration(&text)
        .map(|duration| Some(duration.as_std()))
        .map_err(|error| flags::invalid_argument(flag, &text, &error.to_string()))
}

fn could_not_start(listen: SocketAddr, tls_listen: Option<SocketAddr>, error: &std::io::Error) -> Failure {
    let failure = Failure::other(format!("failed to start the target: {error}"));
    match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            let tls = tls_listen.map_or_else(String::new, |tls| format!(" or {tls}"));
            let flags = if tls.is_empty() { "--listen" } else { "--listen or --tls-listen" };
            failure.hint(format!("something listens on {listen}{tls} already; choose another with {flags}"))
        }
        std::io::ErrorKind::InvalidInput if !listen.ip().is_loopback() => {
            failure.hint("allow it with --allow-non-loopback")
        }
        _ => failure,
    }
}

fn greeting(target: &onrush_testsite::TargetHandle, certificate: Option<&str>) -> String {
    let mut text = format!("target: http://{}\n", target.addr);
    if let Some(address) = target.tls_addr {
        text.push_str(&format!("        https://{address} (self-signed certificate)\n"));
    }
    if let Some(path) = certificate {
        text.push_str(&format!("        certificate in {path}\n"));
    }
    text.push_str("        /healthz and /stats report its state; press Ctrl+C to stop it\n");
    text
}
