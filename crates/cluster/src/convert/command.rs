//! Commands as messages.

use std::sync::Arc;

use bytes::Bytes;
use onrush_plan::{Cut, steer::Ramp};
use onrush_session::protocol::{Command, Init, Known, SecretAnswer, TakeUp, TargetChange, Time};
use prost::Message as _;

use super::WireError;
use crate::messages::{self as wire, command::What, steer::Change};

/// Encodes a command.
pub(crate) fn encode_command(command: &Command) -> Bytes {
    to_wire(command).encode_to_vec().into()
}

fn to_wire(command: &Command) -> wire::Command {
    let what = match command {
        Command::Init(init) => What::Init(encode_init(init)),
        Command::StartClock { at } => What::StartClock(wire::StartClock { at: at.0 }),
        Command::Setup => What::Setup(wire::Unit {}),
        Command::SetupData(json) => What::SetupData(encode_data(json)),
        Command::Start { at, data } => What::Start(wire::Start { at: at.0, data: Some(encode_data(data)) }),
        Command::Steer { scenario, change } => {
            let change = match change {
                TargetChange::Vus(ramp) => Change::Vus(encode_ramp(ramp)),
                TargetChange::MaxVus(max) => Change::MaxVus(*max),
                TargetChange::Rate(ramp) => Change::Rate(encode_ramp(ramp)),
            };
            What::Steer(wire::Steer { scenario: scenario.clone(), change: Some(change) })
        }
        Command::Pause { is_paused, at } => What::Pause(wire::Pause { is_paused: *is_paused, at: at.0 }),
        Command::Interrupt => What::Interrupt(wire::Unit {}),
        Command::Teardown(json) => What::Teardown(encode_data(json)),
        Command::Flush => What::Flush(wire::Unit {}),
        Command::Summary(text) => What::Summary(wire::Text { text: text.clone() }),
        Command::Secret(answer) => {
            let SecretAnswer { source, key, result } = (**answer).clone();
            let result = match result {
                Ok(value) => wire::secret::Result::Value(value),
                Err(error) => wire::secret::Result::Error(error),
            };
            What::Secret(wire::Secret { source, key, result: Some(result) })
        }
        Command::Stop => What::Stop(wire::Unit {}),
        Command::OfShare { share, command } => {
            What::OfShare(Box::new(wire::CommandOfShare { share: *share, command: Some(Box::new(to_wire(command))) }))
        }
        Command::TakeUp(take_up) => What::TakeUp(encode_take_up(take_up)),
    };
    wire::Command { what: Some(what) }
}

/// Decodes a command.
pub(crate) fn command(bytes: Bytes) -> Result<Command, WireError> {
    from_wire(wire::Command::decode(bytes)?)
}

fn from_wire(command: wire::Command) -> Result<Command, WireError> {
    let what = command.what.ok_or_else(|| WireError::missing("command"))?;
    Ok(match what {
        What::Init(init) => Command::Init(Box::new(self::init(init))),
        What::StartClock(start) => Command::StartClock { at: Time(start.at) },
        What::Setup(_) => Command::Setup,
        What::SetupData(data) => Command::SetupData(json(Some(data))),
        What::Start(start) => Command::Start { at: Time(start.at), data: json(start.data) },
        What::Steer(steer) => Command::Steer {
            scenario: steer.scenario,
            change: match steer.change.ok_or_else(|| WireError::missing("target"))? {
                Change::Vus(ramp) => TargetChange::Vus(self::ramp(&ramp)),
                Change::MaxVus(max) => TargetChange::MaxVus(max),
                Change::Rate(ramp) => TargetChange::Rate(self::ramp(&ramp)),
            },
        },
        What::Pause(pause) => Command::Pause { is_paused: pause.is_paused, at: Time(pause.at) },
        What::Interrupt(_) => Command::Interrupt,
        What::Teardown(data) => Command::Teardown(json(Some(data))),
        What::Flush(_) => Command::Flush,
        What::Summary(text) => Command::Summary(text.text),
        What::Secret(answer) => Command::Secret(Box::new(SecretAnswer {
            source: answer.source,
            key: answer.key,
            result: match answer.result.ok_or_else(|| WireError::missing("secret"))? {
                wire::secret::Result::Value(value) => Ok(value),
                wire::secret::Result::Error(error) => Err(error),
            },
        })),
        What::Stop(_) => Command::Stop,
        What::OfShare(of) => {
            let command = from_wire(*of.command.ok_or_else(|| WireError::missing("command"))?)?;
            if matches!(command, Command::OfShare { .. }) {
                return Err(WireError::new("it is for a share of a share"));
            }
            Command::OfShare { share: of.share, command: Box::new(command) }
        }
        What::TakeUp(take_up) => Command::TakeUp(Box::new(self::take_up(take_up))),
    })
}

fn encode_take_up(take_up: &TakeUp) -> wire::TakeUp {
    let known =
        |known: &Known| wire::Known { scenario: known.scenario.clone(), ended: known.ended, begun: known.begun };
    wire::TakeUp {
        at: take_up.at.0,
        from_ns: take_up.from_ns,
        data: Some(encode_data(&take_up.data)),
        scenarios: take_up.scenarios.iter().map(known).collect(),
    }
}

fn take_up(take_up: wire::TakeUp) -> TakeUp {
    let known = |known: wire::Known| Known { scenario: known.scenario, ended: known.ended, begun: known.begun };
    TakeUp {
        at: Time(take_up.at),
        from_ns: take_up.from_ns,
        data: json(take_up.data),
        scenarios: take_up.scenarios.into_iter().map(known).collect(),
    }
}

pub(super) fn encode_data(json: &Option<Arc<str>>) -> wire::Data {
    wire::Data { json: json.as_deref().map(str::to_owned) }
}

pub(super) fn json(data: Option<wire::Data>) -> Option<Arc<str>> {
    data?.json.map(Arc::from)
}

fn encode_init(init: &Init) -> wire::Init {
    wire::Init {
        version: init.version,
        joined: init.joined,
        agent: init.agent,
        agents: init.agents,
        segment: init.segment.clone(),
        sequence: init.sequence.clone(),
        series_max: init.series_max,
        rps: init.rps,
        test: init.test.clone(),
        cuts: init.cuts.iter().map(|cut| wire::Cut { index: cut.index, of: cut.of }).collect(),
    }
}

fn init(init: wire::Init) -> Init {
    let wire::Init { version, agent, agents, segment, sequence, series_max, rps, test, cuts, joined } = init;
    let cuts = cuts.into_iter().map(|cut| Cut { index: cut.index, of: cut.of }).collect();
    Init { version, agent, agents, joined, segment, sequence, cuts, series_max, rps, test }
}

fn encode_ramp(ramp: &Ramp) -> wire::Ramp {
    wire::Ramp { at_ns: ramp.at_ns, from: ramp.from, to: ramp.to, over_ns: ramp.over_ns }
}

fn ramp(ramp: &wire::Ramp) -> Ramp {
    Ramp { at_ns: ramp.at_ns, from: ramp.from, to: ramp.to, over_ns: ramp.over_ns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::check_variants;

    /// Fields are not what they are by default: one that is forgotten does not come back.
    fn commands() -> Vec<Command> {
        let ramp = Ramp { at_ns: 1, from: 2, to: 3, over_ns: 4 };
        let secret =
            |result| Command::Secret(Box::new(SecretAnswer { source: "s".to_owned(), key: "k".to_owned(), result }));
        let steer = |change| Command::Steer { scenario: "s".to_owned(), change };
        let init = Init {
            version: 1,
            agent: 2,
            agents: 3,
            joined: Some(4),
            segment: "0:1/3".to_owned(),
            sequence: "0,1/3,2/3,1".to_owned(),
            series_max: Some(0),
            rps: Some(5),
            test: vec![0, 255],
            cuts: vec![Cut { index: 1, of: 2 }, Cut { index: 0, of: 3 }],
        };
        let known = Known { scenario: "a".to_owned(), ended: 3, begun: 5 };
        let take_up = TakeUp { at: Time(4), from_ns: 9, data: Some("[]".into()), scenarios: vec![known] };
        let of_share = |command| Command::OfShare { share: 7, command: Box::new(command) };
        [
            Command::Init(Box::new(Init { series_max: None, rps: None, joined: None, ..init.clone() })),
            Command::Init(Box::new(init.clone())),
            of_share(Command::Init(Box::new(init))),
            of_share(Command::Stop),
            Command::TakeUp(Box::new(take_up)),
            Command::StartClock { at: Time(u64::MAX) },
            Command::Setup,
            Command::SetupData(None),
            Command::SetupData(Some("".into())),
            Command::Start { at: Time(5), data: Some("{}".into()) },
            Command::Start { at: Time(0), data: None },
            steer(TargetChange::Vus(ramp)),
            steer(TargetChange::MaxVus(0)),
            steer(TargetChange::Rate(ramp)),
            Command::Pause { is_paused: true, at: Time(9) },
            Command::Interrupt,
            Command::Teardown(Some("1".into())),
            Command::Flush,
            Command::Summary("ü".to_owned()),
            secret(Ok("v".to_owned())),
            secret(Err("e".to_owned())),
            Command::Stop,
        ]
        .into()
    }

    #[test]
    fn what_is_sent_is_what_comes() {
        for sent in commands() {
            assert_eq!(command(encode_command(&sent)), Ok(sent));
        }
    }

    #[test]
    fn every_command_is_among_them() {
        check_variants::<Command>(commands().iter().map(|command| format!("{command:?}")));
    }

    #[test]
    fn what_is_no_command_is_refused() {
        assert_eq!(command(Bytes::new()), Err(WireError("it has no command".to_owned())));
        assert!(command(Bytes::from_static(b"\xff\xff\xff")).is_err());
        let steer = wire::Steer { scenario: String::new(), change: None };
        let bytes = wire::Command { what: Some(What::Steer(steer)) }.encode_to_vec();
        assert_eq!(command(bytes.into()), Err(WireError("it has no target".to_owned())));
        let share = |command| Command::OfShare { share: 0, command: Box::new(command) };
        let nested = encode_command(&share(share(Command::Stop)));
        assert_eq!(command(nested), Err(WireError("it is for a share of a share".to_owned())));
    }
}
