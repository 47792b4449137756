//! A relay in a process of its own, over TLS.

use std::{error::Error, io::Read as _};

use onrush_cluster::{Access, Credential, Destination, Identity, Relay, RelayConfig, Token};

use crate::PROGRAM;

/// Says where it is and what lets agents in, and runs until this process's input ends.
pub(crate) fn run(coordinator: &str, token: &str) -> Result<(), Box<dyn Error>> {
    let credential = Credential::token(&Token::parse(token)?);
    let config = RelayConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        access: Access::encrypted(Token::random(), None, Identity::made_now()?),
        to: Destination { coordinator: coordinator.to_owned(), credential, run: None },
        name: "relay".to_owned(),
        program: PROGRAM.to_owned(),
    };
    let relay = Relay::listen(config, |_| {})?;
    println!("{} {}", relay.address, relay.token().map(ToString::to_string).unwrap_or_default());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
