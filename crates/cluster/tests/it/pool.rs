//! A coordinator that serves many runs: who may do what there, which run gets which agents, what followers see, and that
//! nobody can make it keep more than it should.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    ops::ControlFlow,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use onrush_cluster::{
    Access, Capacity, Credential, Destination, FromPool, Happened, Place, Pool, PoolConfig, PoolEvent, PoolLimits,
    RunOrder, RunRequest, StandConfig, StandError, Standing, Token, User, UserError,
};
use tempfile::TempDir;

use crate::support::{self, PATIENCE, PROGRAM, TestHub, destination};

struct TestPool {
    pool: Pool,
    events: Receiver<PoolEvent>,
    agents: Token,
    users: Token,
    folder: TempDir,
}

struct TestAgent {
    standing: Standing,
    from_pool: Receiver<FromPool>,
}

fn pool(limits: PoolLimits) -> TestPool {
    let folder = tempfile::tempdir().expect("a folder");
    let (agents, users) = (Token::random(), Token::random());
    let config = PoolConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        access: Access::plain(agents.clone(), Some(users.clone())),
        program: PROGRAM.to_owned(),
        folder: folder.path().to_owned(),
        limits,
    };
    let (sender, events) = channel();
    let pool = Pool::listen(config, move |event| {
        let _ = sender.send(event);
    });
    TestPool { pool: pool.expect("a free port"), events, agents, users, folder }
}

fn request(agents: u32) -> RunRequest {
    RunRequest { name: "script.js".to_owned(), agents, wait: PATIENCE, ..RunRequest::default() }
}

fn test(bytes: usize) -> Arc<[u8]> {
    (0..bytes).map(|byte| u8::try_from(byte % 251).unwrap_or_default()).collect::<Vec<_>>().into()
}

impl TestPool {
    fn to(&self, token: &Token) -> Destination {
        destination(self.pool.address, Credential::token(token))
    }

    fn user(&self) -> User {
        User::new(self.to(&self.users)).expect("a runtime")
    }

    fn stand(&self, token: &Token) -> Result<TestAgent, StandError> {
        let (sender, from_pool) = channel();
        let config = StandConfig {
            to: self.to(token),
            name: "an agent".to_owned(),
            labels: [("zone".to_owned(), "eu".to_owned())].into(),
            capacity: Capacity { cores: 2.0, memory_bytes: 1 << 30, files: 1_024 },
            program: PROGRAM.to_owned(),
            wait: PATIENCE,
        };
        let standing = Standing::join(config, move |event| {
            let _ = sender.send(event);
        })?;
        Ok(TestAgent { standing, from_pool })
    }

    fn agent(&self) -> TestAgent {
        self.stand(&self.agents).expect("it is let in")
    }

    fn submit(&self, request: &RunRequest, bytes: usize) -> Result<u64, UserError> {
        let run = self.user().submit(PROGRAM, request, &test(bytes))?;
        Ok(run.parse().expect("runs have numbers"))
    }

    /// The next thing that is no note.
    fn event(&self) -> PoolEvent {
        loop {
            match self.events.recv_timeout(PATIENCE).expect("something happens") {
                PoolEvent::Note(_) => {}
                other => return other,
            }
        }
    }

    fn started(&self) -> RunOrder {
        match self.event() {
            PoolEvent::Start(order) => order,
            other => panic!("{other:?}"),
        }
    }

    fn refused(&self) -> String {
        match self.event() {
            PoolEvent::Refused { why, .. } => why,
            other => panic!("{other:?}"),
        }
    }

    fn follow(&self, run: u64) -> Vec<Happened> {
        let mut all = Vec::new();
        let is_over = self.user().follow(&run.to_string(), &mut 0, |happened| {
            all.push(happened);
            ControlFlow::Continue(())
        });
        assert!(is_over.expect("it can be followed"));
        all
    }
}

fn place(hub: SocketAddr, secret: &str) -> Place {
    Place { hub, secret: secret.to_owned(), api: None }
}

fn nowhere() -> Place {
    place(([127, 0, 0, 1], 1).into(), "no-secret")
}

impl TestAgent {
    fn assigned(&self) -> (String, String) {
        match self.from_pool.recv_timeout(PATIENCE).expect("something comes") {
            FromPool::Assign { run, secret } => (run, secret),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_run_goes_from_a_user_to_agents_and_back() {
    let test_pool = pool(PoolLimits::default());
    let agents = [test_pool.agent(), test_pool.agent()];
    let run = test_pool.submit(&request(2), 700_000).expect("there is room");
    let order = test_pool.started();
    assert_eq!((order.run, order.request.agents), (run, 2));
    // It came as it was sent.
    let kept = fs::read(test_pool.folder.path().join(run.to_string()).join("test")).expect("it is kept");
    assert_eq!(kept, &*test(700_000));
    // Its coordinator, behind the pool's port.
    let hub: TestHub = support::hub(support::config(2));
    let secret = hub.token().to_string();
    test_pool.pool.begin(run, place(hub.hub.address, &secret));
    let connections: Vec<support::TestAgent> = agents
        .iter()
        .map(|agent| {
            let (assigned, secret) = agent.assigned();
            assert_eq!(assigned, run.to_string());
            agent.standing.set_run(Some(&assigned));
            let to = Destination { run: Some(format!("{assigned}.{secret}")), ..test_pool.to(&test_pool.agents) };
            support::join(onrush_cluster::JoinConfig { to, ..support::agent_config() }).expect("it is let in")
        })
        .collect();
    hub.hub.begin();
    let content = test(3 << 20);
    let hash = hub.hub.offer(content.clone());
    assert_eq!(connections[0].connection.fetch(hash).expect("it comes"), &*content);
    connections[1].connection.reporter().report(&support::line(7));
    let report = loop {
        if let onrush_cluster::Event::Report { report, .. } = hub.event() {
            break report;
        }
    };
    assert_eq!(report, support::line(7));
    // What lets an agent into one run lets it into no other.
    let wrong = Destination { run: Some(format!("{run}.{}", Token::random())), ..test_pool.to(&test_pool.agents) };
    let error = support::join(onrush_cluster::JoinConfig { to: wrong, ..support::agent_config() });
    assert!(error.err().expect("it is refused").to_string().contains("the token is wrong"));
    // It ends.
    let folder = test_pool.folder.path().join("summary");
    fs::write(&folder, test(600_000)).expect("a file");
    test_pool.pool.output(run, b"hello".to_vec());
    test_pool.pool.log(run, b"a line".to_vec());
    test_pool.pool.end(run, 99, vec![("summary.json".to_owned(), folder)]);
    let happened = test_pool.follow(run);
    assert_eq!(happened[..2], [Happened::Output(b"hello".to_vec()), Happened::Log(b"a line".to_vec())]);
    assert_eq!(happened.last(), Some(&Happened::End { code: 99 }));
    let file: Vec<u8> = happened
        .iter()
        .filter_map(|happened| match happened {
            Happened::File { path, data, .. } if path == "summary.json" => Some(data.clone()),
            _ => None,
        })
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(file, &*test(600_000));
    // Free agents take the next run.
    agents.iter().for_each(|agent| agent.standing.set_run(None));
    let next = test_pool.submit(&request(2), 10).expect("there is room");
    assert_eq!(test_pool.started().run, next);
}

#[test]
fn each_role_has_its_own_rights() {
    let test_pool = pool(PoolLimits::default());
    // An agent's credential sends no runs, follows none, stops none.
    let false_user = User::new(test_pool.to(&test_pool.agents)).expect("a runtime");
    let why = "an agent's credential is not good for sending or following runs: use that of a user";
    let refused = |error: UserError| assert!(error.to_string().ends_with(why), "{error}");
    refused(false_user.submit(PROGRAM, &request(1), &test(10)).expect_err("an agent"));
    refused(false_user.list().expect_err("an agent"));
    refused(false_user.stop("1").expect_err("an agent"));
    refused(false_user.follow("1", &mut 0, |_| ControlFlow::Continue(())).expect_err("an agent"));
    refused(false_user.ask("1", "GET", "/v1/status", Vec::new()).expect_err("an agent"));
    assert_eq!(test_pool.refused(), why);
    // A user's lets no agent in, and nobody's lets nobody in.
    let error = test_pool.stand(&test_pool.users).err().expect("a user").to_string();
    assert!(error.contains("a user's credential does not let an agent in"), "{error}");
    let error = test_pool.stand(&Token::random()).err().expect("nobody").to_string();
    assert!(error.contains("the token is wrong"), "{error}");
    let nobody = User::new(test_pool.to(&Token::random())).expect("a runtime");
    assert!(matches!(nobody.list(), Err(UserError::Refused { .. })));
    // A coordinator with a test of its own has no pool.
    let hub = support::hub(support::config(1));
    let one_run = TestPool { agents: hub.token(), ..pool(PoolLimits::default()) };
    let config = StandConfig {
        to: destination(hub.hub.address, Credential::token(&one_run.agents)),
        name: String::new(),
        labels: [].into(),
        capacity: Capacity::default(),
        program: PROGRAM.to_owned(),
        wait: PATIENCE,
    };
    assert!(matches!(Standing::join(config, |_| {}), Err(StandError::OneRun)));
}

#[test]
fn other_versions_are_refused() {
    let test_pool = pool(PoolLimits::default());
    let error = test_pool.user().submit("0.9", &request(1), &test(10)).expect_err("another version").to_string();
    assert!(error.contains("this program is Onrush 0.9") && error.contains("the same version"), "{error}");
}

#[test]
fn what_is_too_large_or_too_much_is_refused() {
    let limits = PoolLimits { runs_waiting: 2, test_bytes: 1_000_000, ..PoolLimits::default() };
    let test_pool = pool(limits);
    let error = test_pool.submit(&request(1), 1_000_001).expect_err("too large").to_string();
    assert!(error.contains("has 1000001 bytes, the limit of this coordinator is 1000000"), "{error}");
    assert!(test_pool.submit(&request(0), 10).is_err());
    let zones = RunRequest { zones: vec![("eu".to_owned(), 1), ("us".to_owned(), 1)], ..request(1) };
    assert!(test_pool.submit(&zones, 10).expect_err("too few agents").to_string().contains("each needs an agent"));
    let runs = [(); 2].map(|()| test_pool.submit(&request(1), 1_000_000).expect("there is room"));
    let error = test_pool.submit(&request(1), 10).expect_err("the queue is full").to_string();
    assert!(error.contains("2 runs wait already, which is the limit"), "{error}");
    // One that is stopped while it waits makes room, and says why it ended.
    test_pool.user().stop(&runs[0].to_string()).expect("it waits");
    let happened = test_pool.follow(runs[0]);
    assert_eq!(happened.last(), Some(&Happened::End { code: 105 }));
    assert!(matches!(&happened[0], Happened::Log(line) if line.starts_with(b"no test was run: it was stopped")));
    test_pool.submit(&request(1), 10).expect("there is room again");
    let (listed, agents) = test_pool.user().list().expect("an answer");
    assert_eq!(listed.iter().map(|run| run.state.as_str()).collect::<Vec<_>>(), ["ended", "waiting", "waiting"]);
    assert!(agents.is_empty());
    assert!(test_pool.user().stop("77").expect_err("nobody").to_string().contains("there is no run 77"));
}

#[test]
fn a_run_waits_only_so_long() {
    let test_pool = pool(PoolLimits::default());
    let run =
        test_pool.submit(&RunRequest { wait: Duration::from_millis(200), ..request(3) }, 10).expect("there is room");
    let happened = test_pool.follow(run);
    assert!(matches!(&happened[0], Happened::Log(line) if line.starts_with(b"no test was run: it needs 3 agents")));
    assert_eq!(happened.last(), Some(&Happened::End { code: 120 }));
}

#[test]
fn followers_hold_up_nothing() {
    let limits = PoolLimits { followers: 2, log_bytes: 1 << 20, ..PoolLimits::default() };
    let test_pool = pool(limits);
    let _agent = test_pool.agent();
    let run = test_pool.submit(&request(1), 10).expect("there is room");
    assert_eq!(test_pool.started().run, run);
    test_pool.pool.begin(run, nowhere());
    test_pool.pool.output(run, b"first".to_vec());
    // One that reads a single thing and then never again, for as long as the test takes.
    let (reached, is_reached) = channel();
    let (stuck, until) = channel::<()>();
    let slow = test_pool.user();
    let name = run.to_string();
    let follower = std::thread::spawn(move || {
        let mut seen = Vec::new();
        let followed = slow.follow(&name, &mut 0, |happened| {
            if seen.is_empty() {
                let _ = reached.send(());
                let _ = until.recv();
            }
            seen.push(happened);
            ControlFlow::Continue(())
        });
        followed.map(|_| seen)
    });
    is_reached.recv_timeout(PATIENCE).expect("it follows");
    // Far more than the connection and the log have room for.
    for number in 0..640_u32 {
        test_pool.pool.output(run, number.to_le_bytes().repeat(16 << 10));
    }
    // Another one sees what is left of it, while the first does not read.
    test_pool.pool.end(run, 0, Vec::new());
    let quick = test_pool.follow(run);
    assert!(matches!(quick[0], Happened::Skipped(count) if count > 500), "{:?}", quick[0]);
    assert_eq!(quick.last(), Some(&Happened::End { code: 0 }));
    drop(stuck);
    let seen = follower.join().expect("no panic").expect("it sees the end");
    assert!(seen.iter().any(|happened| matches!(happened, Happened::Skipped(_))));
    assert_eq!(seen.last(), Some(&Happened::End { code: 0 }));
}

#[test]
fn there_are_only_so_many_followers() {
    let test_pool = pool(PoolLimits { followers: 1, ..PoolLimits::default() });
    let run = test_pool.submit(&request(1), 10).expect("there is room");
    test_pool.pool.output(run, b"something".to_vec());
    let (reached, is_reached) = channel();
    let (user, name) = (test_pool.user(), run.to_string());
    let first = std::thread::spawn(move || {
        user.follow(&name, &mut 0, |happened| {
            let _ = reached.send(happened);
            ControlFlow::Continue(())
        })
    });
    is_reached.recv_timeout(PATIENCE).expect("it follows");
    let second = test_pool.user().follow(&run.to_string(), &mut 0, |_| ControlFlow::Break(()));
    let error = second.expect_err("the place is taken").to_string();
    assert!(error.contains("1 others follow runs already"), "{error}");
    test_pool.user().stop(&run.to_string()).expect("it waits");
    assert!(first.join().expect("no panic").expect("it sees the end"));
}

#[test]
fn agents_that_are_gone_get_no_runs() {
    let test_pool = pool(PoolLimits::default());
    let agent = test_pool.agent();
    let is_there = |count: usize| {
        while test_pool.user().list().expect("an answer").1.len() != count {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    is_there(1);
    drop(agent);
    is_there(0);
    let run = test_pool.submit(&request(1), 10).expect("there is room");
    let _next = test_pool.agent();
    assert_eq!(test_pool.started().run, run);
}

#[test]
fn garbage_and_silence_keep_nobody_out() {
    let test_pool = pool(PoolLimits::default());
    let connect = || TcpStream::connect(test_pool.pool.address).expect("it listens");
    let _silent: Vec<TcpStream> = (0..500).map(|_| connect()).collect();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense", &[0xff; 4_096]] {
        let mut stream = connect();
        let _ = stream.write_all(garbage);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
        let _ = stream.read(&mut [0; 1_024]);
    }
    let _agent = test_pool.agent();
    let run = test_pool.submit(&request(1), 10).expect("there is room");
    assert_eq!(test_pool.started().run, run);
}
