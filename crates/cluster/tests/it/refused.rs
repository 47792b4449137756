//! Who is not let in, and is told why; and whatever else comes to a coordinator's port.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use onrush_cluster::{Access, Credential, Event, Hub, HubConfig, HubError, JoinConfig, Token};
use onrush_session::protocol::AgentId;

use crate::support::{self, TestHub, agent_config, destination, hub, join, join_config, line};

fn refused(test: &TestHub, config: JoinConfig, expect: &str) {
    // However long it would wait for a coordinator: this one has answered.
    let config = JoinConfig { wait: Duration::MAX, ..config };
    let error = join(config).err().expect("it is refused").to_string();
    assert_eq!(error, format!("the coordinator {} refused this agent: {expect}", test.hub.address));
}

#[test]
fn wrong_tokens() {
    for config in [support::config(1), support::with_tls(1)] {
        let test = hub(config);
        let fingerprint = test.token().to_string().split_once('.').map(|(_, print)| print.to_owned());
        let mut wrong = Token::random().to_string();
        wrong.extend(fingerprint.iter().flat_map(|print| [".", print.as_str()]));
        let wrong = Token::parse(&wrong).expect("a token");
        let why = "the token is wrong: use the one that this coordinator printed";
        refused(&test, join_config(test.hub.address, &wrong), why);
        assert!(matches!(test.event(), Event::Refused { why: told, .. } if told == why));
        test.agent();
    }
}

#[test]
fn another_coordinators_token() {
    let (test, other) = (hub(support::with_tls(1)), hub(support::with_tls(1)));
    let why = "the token is of another coordinator: its certificate has another fingerprint";
    refused(&test, join_config(test.hub.address, &other.token()), why);
}

#[test]
fn other_versions() {
    let test = hub(support::config(1));
    let config = JoinConfig { program: "0.9".to_owned(), ..join_config(test.hub.address, &test.token()) };
    let why = "this agent is Onrush 0.9 with version 3 of the protocol, the coordinator is Onrush 1.2.3-test with \
               version 3: use the same version of Onrush everywhere";
    refused(&test, config, why);
}

#[test]
fn one_agent_too_many() {
    let test = hub(support::config(1));
    let _first = test.agent();
    refused(&test, join_config(test.hub.address, &test.token()), "the run has all of its 1 agents");
}

#[test]
fn plain_text_and_tls_do_not_mix() {
    let (plain, secured) = (hub(support::config(1)), hub(support::with_tls(1)));
    // However long they would wait: it will not get better.
    let error = |to: &TestHub, token: &Token| {
        let config = JoinConfig { wait: Duration::MAX, ..join_config(to.hub.address, token) };
        join(config).err().expect("no way").to_string()
    };
    let token = secured.token();
    let text = error(&plain, &token);
    assert!(text.contains("failed to join the coordinator 127.0.0.1:"), "{text}");
    assert!(text.contains("it does not speak TLS, which this token or certificate is for"), "{text}");
    let secret = Token::parse(token.to_string().split('.').next().expect("a secret")).expect("a token");
    let text = error(&secured, &secret);
    assert!(text.contains("failed to join the coordinator"), "{text}");
    assert!(text.contains("the join token has no fingerprint: copy all of the token"), "{text}");
    // Both are still there.
    plain.agent();
    secured.agent();
}

#[test]
fn addresses_of_other_machines_are_never_plain() {
    let config = HubConfig { listen: ([0, 0, 0, 0], 0).into(), ..support::config(1) };
    assert!(matches!(Hub::listen(config, |_| {}), Err(HubError::Plain(_))));
    let config = JoinConfig { to: destination("192.0.2.1:1", Credential::token(&Token::random())), ..agent_config() };
    let error = join(config).err().expect("no fingerprint").to_string();
    assert!(error.contains("the join token has no fingerprint"), "{error}");
}

#[test]
fn nobody_is_there_or_somebody_else() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("it has one");
    let text = join(join_config(nobody, &Token::random())).err().expect("nobody").to_string();
    assert!(text.starts_with(&format!("failed to join the coordinator {nobody}: ")), "{text}");
    // A web server.
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("it has one");
    std::thread::spawn(move || {
        for mut stream in server.incoming().flatten() {
            let _ = stream.read(&mut [0; 1_024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let config = JoinConfig { wait: Duration::MAX, ..join_config(address, &Token::random()) };
    let text = join(config).err().expect("no coordinator").to_string();
    assert!(text.starts_with(&format!("failed to join the coordinator {address}: ")), "{text}");
    // It waits for one that comes later.
    let test = hub(support::config(1));
    let config = JoinConfig { wait: support::PATIENCE, ..join_config(test.hub.address, &test.token()) };
    let late = HubConfig { listen: test.hub.address, access: Access::plain(test.token(), None), ..support::config(1) };
    drop(test);
    let joining = std::thread::spawn(move || join(config).map(|agent| agent.connection.agent));
    std::thread::sleep(Duration::from_millis(300));
    let _late = hub(late);
    assert_eq!(joining.join().expect("no panic").expect("it joins"), AgentId(0));
}

#[test]
fn garbage_and_silence_on_the_port_keep_nobody_out() {
    let test = hub(support::config(1));
    let connect = || TcpStream::connect(test.hub.address).expect("it listens");
    // 500 that never speak, and some that speak nonsense.
    let silent: Vec<TcpStream> = (0..500).map(|_| connect()).collect();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense", &[0xff; 4_096]] {
        let mut stream = connect();
        let _ = stream.write_all(garbage);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
        let _ = stream.read(&mut [0; 1_024]);
    }
    let agent = test.agent();
    test.hub.begin();
    agent.connection.reporter().report(&line(1));
    assert_eq!(test.report().1, line(1));
    // Who does not say who he is has to go.
    let mut first = &silent[0];
    first.set_read_timeout(Some(support::PATIENCE)).expect("it can be set");
    let mut rest = Vec::new();
    first.read_to_end(&mut rest).expect("it is closed");
}
