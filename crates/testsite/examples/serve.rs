//! Runs the target: `serve [port] [tls-port] [threads] [delay_ms]`.
//!
//! A TLS port of 0 means no TLS. The certificate is printed on stdout.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its user")]

use std::{error::Error, time::Duration};

use onrush_testsite::{TargetOptions, raise_file_limit, start};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or_else(|| default.to_owned());
    let port: u16 = argument(0, "8080").parse()?;
    let tls_port: u16 = argument(1, "0").parse()?;
    let delay_ms: f64 = argument(3, "0").parse()?;
    raise_file_limit()?;
    let target = start(TargetOptions {
        listen: ([127, 0, 0, 1], port).into(),
        tls_listen: (tls_port != 0).then(|| ([127, 0, 0, 1], tls_port).into()),
        threads: argument(2, "1").parse()?,
        delay: Duration::try_from_secs_f64(delay_ms / 1000.0)?,
        ..TargetOptions::default()
    })?;
    eprintln!("http://{}", target.addr);
    if let (Some(addr), Some(pem)) = (target.tls_addr, &target.certificate_pem) {
        eprintln!("https://{addr}");
        println!("{pem}");
    }
    target.join()?;
    Ok(())
}
