//! The messages of `proto/cluster.proto`, made from it by `cargo xtask docs`: do not edit. What they mean stands there.

#[derive(Clone, PartialEq, ::prost::Message)]
pub struct FromAgent {
    #[prost(oneof = "from_agent::What", tags = "1, 2, 3")]
    pub what: ::core::option::Option<from_agent::What>,
}
/// Nested message and enum types in `FromAgent`.
pub mod from_agent {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Hello(super::Hello),
        #[prost(message, tag = "2")]
        Ping(super::Ping),
        #[prost(message, tag = "3")]
        Frame(super::Frame),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FromCoordinator {
    #[prost(oneof = "from_coordinator::What", tags = "1, 2, 3")]
    pub what: ::core::option::Option<from_coordinator::What>,
}
/// Nested message and enum types in `FromCoordinator`.
pub mod from_coordinator {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Welcome(super::Welcome),
        #[prost(message, tag = "2")]
        Pong(super::Pong),
        #[prost(message, tag = "3")]
        Frame(super::Frame),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Hello {
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    #[prost(string, tag = "2")]
    pub program: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub name: ::prost::alloc::string::String,
    #[prost(bytes = "vec", tag = "4")]
    pub session: ::prost::alloc::vec::Vec<u8>,
    #[prost(uint32, optional, tag = "5")]
    pub child: ::core::option::Option<u32>,
    #[prost(message, repeated, tag = "6")]
    pub labels: ::prost::alloc::vec::Vec<Label>,
    #[prost(message, optional, tag = "7")]
    pub capacity: ::core::option::Option<Capacity>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Welcome {
    #[prost(bytes = "vec", tag = "1")]
    pub session: ::prost::alloc::vec::Vec<u8>,
    #[prost(uint32, tag = "2")]
    pub agent: u32,
    #[prost(uint32, tag = "3")]
    pub lease_ms: u32,
    #[prost(bool, tag = "4")]
    pub has_journal: bool,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Ping {
    #[prost(uint64, tag = "1")]
    pub agent_ns: u64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Pong {
    #[prost(uint64, tag = "1")]
    pub agent_ns: u64,
    #[prost(uint64, tag = "2")]
    pub coordinator_ns: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Frame {
    #[prost(uint64, tag = "1")]
    pub number: u64,
    #[prost(uint64, tag = "2")]
    pub acknowledged: u64,
    #[prost(bytes = "bytes", tag = "3")]
    pub message: ::prost::bytes::Bytes,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct FromRelay {
    #[prost(oneof = "from_relay::What", tags = "1, 2, 3")]
    pub what: ::core::option::Option<from_relay::What>,
}
/// Nested message and enum types in `FromRelay`.
pub mod from_relay {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Hello(super::RelayHello),
        #[prost(message, tag = "2")]
        Agent(super::FromAgentBehind),
        #[prost(message, tag = "3")]
        Sum(super::Folded),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct RelayHello {
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    #[prost(string, tag = "2")]
    pub program: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub name: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct FromAgentBehind {
    #[prost(uint64, tag = "1")]
    pub connection: u64,
    #[prost(oneof = "from_agent_behind::What", tags = "2, 3, 4")]
    pub what: ::core::option::Option<from_agent_behind::What>,
}
/// Nested message and enum types in `FromAgentBehind`.
pub mod from_agent_behind {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "2")]
        Message(super::FromAgent),
        #[prost(message, tag = "3")]
        Left(super::Unit),
        #[prost(message, tag = "4")]
        Broke(super::Text),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ToRelay {
    #[prost(oneof = "to_relay::What", tags = "1, 2")]
    pub what: ::core::option::Option<to_relay::What>,
}
/// Nested message and enum types in `ToRelay`.
pub mod to_relay {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Welcome(super::RelayWelcome),
        #[prost(message, tag = "2")]
        Agent(super::ToAgentBehind),
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct RelayWelcome {}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ToAgentBehind {
    #[prost(uint64, tag = "1")]
    pub connection: u64,
    #[prost(message, optional, tag = "4")]
    pub accepted: ::core::option::Option<Accepted>,
    #[prost(oneof = "to_agent_behind::What", tags = "2, 3")]
    pub what: ::core::option::Option<to_agent_behind::What>,
}
/// Nested message and enum types in `ToAgentBehind`.
pub mod to_agent_behind {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "2")]
        Message(super::FromCoordinator),
        #[prost(message, tag = "3")]
        Refused(super::Refusal),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Refusal {
    #[prost(string, tag = "1")]
    pub why: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FetchRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub hash: ::prost::alloc::vec::Vec<u8>,
    #[prost(uint64, tag = "2")]
    pub offset: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Piece {
    #[prost(uint64, tag = "1")]
    pub total: u64,
    #[prost(bytes = "bytes", tag = "2")]
    pub data: ::prost::bytes::Bytes,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Command {
    #[prost(
        oneof = "command::What",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20"
    )]
    pub what: ::core::option::Option<command::What>,
}
/// Nested message and enum types in `Command`.
pub mod command {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Init(super::Init),
        #[prost(message, tag = "2")]
        StartClock(super::StartClock),
        #[prost(message, tag = "3")]
        Setup(super::Unit),
        #[prost(message, tag = "4")]
        SetupData(super::Data),
        #[prost(message, tag = "5")]
        Start(super::Start),
        #[prost(message, tag = "6")]
        Steer(super::Steer),
        #[prost(message, tag = "7")]
        Pause(super::Pause),
        #[prost(message, tag = "8")]
        Interrupt(super::Unit),
        #[prost(message, tag = "9")]
        Teardown(super::Data),
        #[prost(message, tag = "10")]
        Flush(super::Unit),
        #[prost(message, tag = "11")]
        Summary(super::Text),
        #[prost(message, tag = "12")]
        Stop(super::Unit),
        #[prost(message, tag = "13")]
        OfShare(::prost::alloc::boxed::Box<super::CommandOfShare>),
        #[prost(message, tag = "14")]
        TakeUp(super::TakeUp),
        #[prost(message, tag = "20")]
        Secret(super::Secret),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct CommandOfShare {
    #[prost(uint32, tag = "1")]
    pub share: u32,
    #[prost(message, optional, boxed, tag = "2")]
    pub command: ::core::option::Option<::prost::alloc::boxed::Box<Command>>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct TakeUp {
    #[prost(uint64, tag = "1")]
    pub at: u64,
    #[prost(uint64, tag = "2")]
    pub from_ns: u64,
    #[prost(message, optional, tag = "3")]
    pub data: ::core::option::Option<Data>,
    #[prost(message, repeated, tag = "4")]
    pub scenarios: ::prost::alloc::vec::Vec<Known>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Known {
    #[prost(string, tag = "1")]
    pub scenario: ::prost::alloc::string::String,
    #[prost(uint64, tag = "2")]
    pub ended: u64,
    #[prost(uint64, tag = "3")]
    pub begun: u64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Cut {
    #[prost(uint64, tag = "1")]
    pub index: u64,
    #[prost(uint64, tag = "2")]
    pub of: u64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Unit {}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Secret {
    #[prost(string, tag = "1")]
    pub source: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub key: ::prost::alloc::string::String,
    #[prost(oneof = "secret::Result", tags = "3, 4")]
    pub result: ::core::option::Option<secret::Result>,
}
/// Nested message and enum types in `Secret`.
pub mod secret {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum Result {
        #[prost(string, tag = "3")]
        Value(::prost::alloc::string::String),
        #[prost(string, tag = "4")]
        Error(::prost::alloc::string::String),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Text {
    #[prost(string, tag = "1")]
    pub text: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Data {
    #[prost(string, optional, tag = "1")]
    pub json: ::core::option::Option<::prost::alloc::string::String>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Init {
    #[prost(uint32, tag = "1")]
    pub version: u32,
    #[prost(uint32, tag = "2")]
    pub agent: u32,
    #[prost(uint32, tag = "3")]
    pub agents: u32,
    #[prost(string, tag = "4")]
    pub segment: ::prost::alloc::string::String,
    #[prost(string, tag = "5")]
    pub sequence: ::prost::alloc::string::String,
    #[prost(uint64, optional, tag = "6")]
    pub series_max: ::core::option::Option<u64>,
    #[prost(uint64, optional, tag = "7")]
    pub rps: ::core::option::Option<u64>,
    #[prost(bytes = "vec", tag = "8")]
    pub test: ::prost::alloc::vec::Vec<u8>,
    #[prost(message, repeated, tag = "9")]
    pub cuts: ::prost::alloc::vec::Vec<Cut>,
    #[prost(uint32, optional, tag = "10")]
    pub joined: ::core::option::Option<u32>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct StartClock {
    #[prost(uint64, tag = "1")]
    pub at: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Start {
    #[prost(uint64, tag = "1")]
    pub at: u64,
    #[prost(message, optional, tag = "2")]
    pub data: ::core::option::Option<Data>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Steer {
    #[prost(string, tag = "1")]
    pub scenario: ::prost::alloc::string::String,
    #[prost(oneof = "steer::Change", tags = "2, 3, 4")]
    pub change: ::core::option::Option<steer::Change>,
}
/// Nested message and enum types in `Steer`.
pub mod steer {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum Change {
        #[prost(message, tag = "2")]
        Vus(super::Ramp),
        #[prost(uint64, tag = "3")]
        MaxVus(u64),
        #[prost(message, tag = "4")]
        Rate(super::Ramp),
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Ramp {
    #[prost(uint64, tag = "1")]
    pub at_ns: u64,
    #[prost(uint64, tag = "2")]
    pub from: u64,
    #[prost(uint64, tag = "3")]
    pub to: u64,
    #[prost(uint64, tag = "4")]
    pub over_ns: u64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Pause {
    #[prost(bool, tag = "1")]
    pub is_paused: bool,
    #[prost(uint64, tag = "2")]
    pub at: u64,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Report {
    #[prost(
        oneof = "report::What",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21, 22"
    )]
    pub what: ::core::option::Option<report::What>,
}
/// Nested message and enum types in `Report`.
pub mod report {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Accepted(super::Accepted),
        #[prost(message, tag = "2")]
        Ready(super::Unit),
        #[prost(message, tag = "3")]
        SetupDone(super::SetupDone),
        #[prost(message, tag = "4")]
        Started(super::Started),
        #[prost(message, tag = "5")]
        Delta(super::ThreadDelta),
        #[prost(message, tag = "6")]
        Health(super::HealthReport),
        #[prost(message, tag = "7")]
        Warning(super::Warning),
        #[prost(message, tag = "8")]
        Log(super::LogLine),
        #[prost(message, tag = "9")]
        Progress(super::Progress),
        #[prost(message, tag = "10")]
        Aborted(super::Text),
        #[prost(message, tag = "11")]
        MarkedFailed(super::Unit),
        #[prost(message, tag = "12")]
        ScenariosDone(super::Unit),
        #[prost(message, tag = "13")]
        TeardownDone(super::TeardownDone),
        #[prost(message, tag = "14")]
        Flushed(super::Flushed),
        #[prost(message, tag = "15")]
        SummaryDone(super::SummaryDone),
        #[prost(message, tag = "16")]
        Failed(super::Failure),
        #[prost(message, tag = "17")]
        OfShare(::prost::alloc::boxed::Box<super::ReportOfShare>),
        #[prost(message, tag = "20")]
        Begun(super::Begun),
        #[prost(message, tag = "21")]
        Samples(super::ThreadSamples),
        #[prost(message, tag = "22")]
        SecretWanted(super::SecretWanted),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ReportOfShare {
    #[prost(uint32, tag = "1")]
    pub share: u32,
    #[prost(message, optional, boxed, tag = "2")]
    pub report: ::core::option::Option<::prost::alloc::boxed::Box<Report>>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Accepted {
    #[prost(uint32, tag = "1")]
    pub version: u32,
    #[prost(message, repeated, tag = "2")]
    pub metrics: ::prost::alloc::vec::Vec<MetricName>,
    #[prost(string, repeated, tag = "3")]
    pub scenarios: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(uint32, tag = "4")]
    pub threads: u32,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct MetricName {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(enumeration = "MetricKind", tag = "2")]
    pub kind: i32,
    #[prost(enumeration = "Contains", tag = "3")]
    pub contains: i32,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct SetupDone {
    #[prost(message, optional, tag = "1")]
    pub data: ::core::option::Option<Data>,
    #[prost(message, optional, tag = "2")]
    pub failure: ::core::option::Option<Failure>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Started {
    #[prost(uint64, tag = "1")]
    pub at: u64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Begun {
    #[prost(uint64, tag = "1")]
    pub late_ns: u64,
    #[prost(uint64, tag = "2")]
    pub clock_error_ns: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ThreadDelta {
    #[prost(uint32, tag = "1")]
    pub thread: u32,
    #[prost(message, optional, tag = "2")]
    pub span: ::core::option::Option<Span>,
    #[prost(message, optional, tag = "3")]
    pub delta: ::core::option::Option<Folded>,
    #[prost(uint64, repeated, tag = "4")]
    pub ended: ::prost::alloc::vec::Vec<u64>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ThreadSamples {
    #[prost(uint32, tag = "1")]
    pub thread: u32,
    #[prost(message, optional, tag = "2")]
    pub batch: ::core::option::Option<Folded>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct SecretWanted {
    #[prost(string, tag = "1")]
    pub source: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub key: ::prost::alloc::string::String,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Span {
    #[prost(uint64, tag = "1")]
    pub from_ns: u64,
    #[prost(uint64, tag = "2")]
    pub until_ns: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Folded {
    #[prost(bytes = "vec", tag = "1")]
    pub data: ::prost::alloc::vec::Vec<u8>,
    #[prost(bool, tag = "2")]
    pub is_compressed: bool,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct HealthReport {
    #[prost(message, optional, boxed, tag = "1")]
    pub second: ::core::option::Option<::prost::alloc::boxed::Box<Health>>,
    #[prost(message, optional, tag = "2")]
    pub start_lag: ::core::option::Option<Folded>,
    #[prost(uint64, tag = "3")]
    pub panics: u64,
    #[prost(uint64, tag = "4")]
    pub trapped_writes: u64,
    #[prost(string, tag = "5")]
    pub trapped_property: ::prost::alloc::string::String,
    #[prost(uint32, tag = "6")]
    pub threads_given_up: u32,
    #[prost(message, optional, tag = "7")]
    pub computing: ::core::option::Option<Computing>,
    #[prost(message, repeated, tag = "8")]
    pub own_delays: ::prost::alloc::vec::Vec<OwnDelayOf>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct OwnDelayOf {
    #[prost(string, tag = "1")]
    pub scenario: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "2")]
    pub delay: ::core::option::Option<Folded>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Computing {
    #[prost(string, tag = "1")]
    pub scenario: ::prost::alloc::string::String,
    #[prost(uint64, tag = "2")]
    pub slices: u64,
}
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub struct Health {
    #[prost(double, tag = "1")]
    pub process_cores: f64,
    #[prost(double, tag = "2")]
    pub busiest_thread_cores: f64,
    #[prost(double, tag = "3")]
    pub available_cores: f64,
    #[prost(double, tag = "4")]
    pub steal_cores: f64,
    #[prost(double, tag = "5")]
    pub throttled: f64,
    #[prost(double, tag = "6")]
    pub timer_lag_max_ms: f64,
    #[prost(double, tag = "7")]
    pub timer_lag_mean_ms: f64,
    #[prost(double, tag = "8")]
    pub memory_used: f64,
    #[prost(double, tag = "9")]
    pub fds_used: f64,
    #[prost(double, tag = "10")]
    pub waiting: f64,
    #[prost(uint64, tag = "11")]
    pub fd_errors: u64,
    #[prost(uint64, tag = "12")]
    pub port_errors: u64,
    #[prost(uint64, tag = "13")]
    pub stops: u64,
    #[prost(double, tag = "14")]
    pub at_secs: f64,
    #[prost(double, tag = "15")]
    pub machine_cores: f64,
    #[prost(uint64, tag = "16")]
    pub rss_bytes: u64,
    #[prost(uint64, tag = "17")]
    pub fds: u64,
    #[prost(uint64, tag = "18")]
    pub swapped_in: u64,
    #[prost(uint64, tag = "19")]
    pub segments: u64,
    #[prost(uint64, tag = "20")]
    pub retransmitted: u64,
    #[prost(uint64, tag = "21")]
    pub packets_dropped: u64,
    #[prost(uint64, tag = "22")]
    pub received_bytes: u64,
    #[prost(uint64, tag = "23")]
    pub sent_bytes: u64,
    #[prost(double, tag = "24")]
    pub interface_used: f64,
    #[prost(double, tag = "25")]
    pub tracked_used: f64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Field {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub value: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Warning {
    #[prost(string, tag = "1")]
    pub message: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "2")]
    pub fields: ::prost::alloc::vec::Vec<Field>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct LogLine {
    #[prost(string, tag = "1")]
    pub level: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub message: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "3")]
    pub fields: ::prost::alloc::vec::Vec<Field>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Progress {
    #[prost(message, repeated, tag = "1")]
    pub scenarios: ::prost::alloc::vec::Vec<ScenarioProgress>,
    #[prost(uint64, tag = "2")]
    pub vus_active: u64,
    #[prost(uint64, tag = "3")]
    pub vus_initialized: u64,
    #[prost(uint64, tag = "4")]
    pub complete: u64,
    #[prost(uint64, tag = "5")]
    pub interrupted: u64,
}
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub struct ScenarioProgress {
    #[prost(uint64, optional, tag = "1")]
    pub started_at: ::core::option::Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub ended_at: ::core::option::Option<u64>,
    #[prost(uint64, tag = "3")]
    pub running_vus: u64,
    #[prost(uint64, tag = "4")]
    pub active_vus: u64,
    #[prost(uint64, tag = "5")]
    pub active_vus_max: u64,
    #[prost(uint64, tag = "6")]
    pub done: u64,
    #[prost(uint64, tag = "7")]
    pub interrupted: u64,
    #[prost(uint64, tag = "8")]
    pub dropped: u64,
    #[prost(bool, tag = "9")]
    pub stopping: bool,
    #[prost(bool, tag = "10")]
    pub over: bool,
    #[prost(double, optional, tag = "11")]
    pub steered: ::core::option::Option<f64>,
    #[prost(uint64, optional, tag = "12")]
    pub max_vus: ::core::option::Option<u64>,
    #[prost(uint64, tag = "13")]
    pub thrown: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct TeardownDone {
    #[prost(message, optional, tag = "1")]
    pub failure: ::core::option::Option<Failure>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Flushed {
    #[prost(uint32, tag = "1")]
    pub threads_missing: u32,
    #[prost(uint64, tag = "2")]
    pub output_samples_missing: u64,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SummaryDone {
    #[prost(message, optional, tag = "1")]
    pub files: ::core::option::Option<SummaryFiles>,
    #[prost(message, optional, tag = "2")]
    pub failure: ::core::option::Option<Failure>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SummaryFiles {
    #[prost(message, repeated, tag = "1")]
    pub files: ::prost::alloc::vec::Vec<SummaryFile>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct SummaryFile {
    #[prost(string, tag = "1")]
    pub path: ::prost::alloc::string::String,
    #[prost(bytes = "vec", tag = "2")]
    pub content: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Failure {
    #[prost(enumeration = "FailureKind", tag = "1")]
    pub kind: i32,
    #[prost(string, tag = "2")]
    pub message: ::prost::alloc::string::String,
    #[prost(uint64, optional, tag = "3")]
    pub vu: ::core::option::Option<u64>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct FromMember {
    #[prost(oneof = "from_member::What", tags = "1, 2")]
    pub what: ::core::option::Option<from_member::What>,
}
/// Nested message and enum types in `FromMember`.
pub mod from_member {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Hello(super::MemberHello),
        #[prost(message, tag = "2")]
        State(super::MemberState),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct MemberHello {
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    #[prost(string, tag = "2")]
    pub program: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub name: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "4")]
    pub labels: ::prost::alloc::vec::Vec<Label>,
    #[prost(message, optional, tag = "5")]
    pub capacity: ::core::option::Option<Capacity>,
    #[prost(string, tag = "6")]
    pub run: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Label {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub value: ::prost::alloc::string::String,
}
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub struct Capacity {
    #[prost(double, tag = "1")]
    pub cores: f64,
    #[prost(uint64, tag = "2")]
    pub memory_bytes: u64,
    #[prost(uint64, tag = "3")]
    pub files: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct MemberState {
    #[prost(string, tag = "1")]
    pub run: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ToMember {
    #[prost(oneof = "to_member::What", tags = "1, 2, 3")]
    pub what: ::core::option::Option<to_member::What>,
}
/// Nested message and enum types in `ToMember`.
pub mod to_member {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Welcome(super::MemberWelcome),
        #[prost(message, tag = "2")]
        Assign(super::Assign),
        #[prost(message, tag = "3")]
        Beat(super::Beat),
    }
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct MemberWelcome {}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Beat {}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Assign {
    #[prost(string, tag = "1")]
    pub run: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub secret: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Submission {
    #[prost(oneof = "submission::What", tags = "1, 2")]
    pub what: ::core::option::Option<submission::What>,
}
/// Nested message and enum types in `Submission`.
pub mod submission {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum What {
        #[prost(message, tag = "1")]
        Head(super::SubmitHead),
        #[prost(bytes, tag = "2")]
        Piece(::prost::alloc::vec::Vec<u8>),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SubmitHead {
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    #[prost(string, tag = "2")]
    pub program: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub name: ::prost::alloc::string::String,
    #[prost(uint32, tag = "4")]
    pub agents: u32,
    #[prost(message, repeated, tag = "5")]
    pub zones: ::prost::alloc::vec::Vec<Zone>,
    #[prost(uint64, tag = "6")]
    pub wait_ms: u64,
    #[prost(uint64, tag = "7")]
    pub total: u64,
    #[prost(bool, tag = "8")]
    pub verbose: bool,
    #[prost(bool, tag = "9")]
    pub is_even: bool,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Zone {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(uint32, tag = "2")]
    pub weight: u32,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Submitted {
    #[prost(string, tag = "1")]
    pub run: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FollowRequest {
    #[prost(string, tag = "1")]
    pub run: ::prost::alloc::string::String,
    #[prost(uint64, tag = "2")]
    pub from: u64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Happening {
    #[prost(uint64, tag = "1")]
    pub number: u64,
    #[prost(oneof = "happening::What", tags = "2, 3, 4, 5, 6")]
    pub what: ::core::option::Option<happening::What>,
}
/// Nested message and enum types in `Happening`.
pub mod happening {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum What {
        #[prost(bytes, tag = "2")]
        Output(::prost::alloc::vec::Vec<u8>),
        #[prost(bytes, tag = "3")]
        Log(::prost::alloc::vec::Vec<u8>),
        #[prost(message, tag = "4")]
        File(super::FilePiece),
        #[prost(uint64, tag = "5")]
        Skipped(u64),
        #[prost(uint32, tag = "6")]
        End(u32),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FilePiece {
    #[prost(string, tag = "1")]
    pub path: ::prost::alloc::string::String,
    #[prost(bytes = "vec", tag = "2")]
    pub data: ::prost::alloc::vec::Vec<u8>,
    #[prost(bool, tag = "3")]
    pub is_last: bool,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ListRequest {}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Listing {
    #[prost(message, repeated, tag = "1")]
    pub runs: ::prost::alloc::vec::Vec<RunInfo>,
    #[prost(message, repeated, tag = "2")]
    pub agents: ::prost::alloc::vec::Vec<AgentInfo>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct RunInfo {
    #[prost(string, tag = "1")]
    pub run: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub name: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub state: ::prost::alloc::string::String,
    #[prost(uint32, tag = "4")]
    pub agents: u32,
    #[prost(uint64, tag = "5")]
    pub age_ms: u64,
    #[prost(uint32, optional, tag = "6")]
    pub exit_code: ::core::option::Option<u32>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct AgentInfo {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "2")]
    pub labels: ::prost::alloc::vec::Vec<Label>,
    #[prost(message, optional, tag = "3")]
    pub capacity: ::core::option::Option<Capacity>,
    #[prost(string, tag = "4")]
    pub run: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct StopRequest {
    #[prost(string, tag = "1")]
    pub run: ::prost::alloc::string::String,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Stopped {}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Question {
    #[prost(string, tag = "1")]
    pub run: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub method: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub path: ::prost::alloc::string::String,
    #[prost(bytes = "vec", tag = "4")]
    pub body: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Reply {
    #[prost(uint32, tag = "1")]
    pub status: u32,
    #[prost(bytes = "vec", tag = "2")]
    pub body: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum MetricKind {
    Counter = 0,
    Gauge = 1,
    Rate = 2,
    Trend = 3,
}
impl MetricKind {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Counter => "METRIC_KIND_COUNTER",
            Self::Gauge => "METRIC_KIND_GAUGE",
            Self::Rate => "METRIC_KIND_RATE",
            Self::Trend => "METRIC_KIND_TREND",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "METRIC_KIND_COUNTER" => Some(Self::Counter),
            "METRIC_KIND_GAUGE" => Some(Self::Gauge),
            "METRIC_KIND_RATE" => Some(Self::Rate),
            "METRIC_KIND_TREND" => Some(Self::Trend),
            _ => None,
        }
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum Contains {
    Default = 0,
    Time = 1,
    Data = 2,
}
impl Contains {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Default => "CONTAINS_DEFAULT",
            Self::Time => "CONTAINS_TIME",
            Self::Data => "CONTAINS_DATA",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "CONTAINS_DEFAULT" => Some(Self::Default),
            "CONTAINS_TIME" => Some(Self::Time),
            "CONTAINS_DATA" => Some(Self::Data),
            _ => None,
        }
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum FailureKind {
    Script = 0,
    Aborted = 1,
    Timeout = 2,
    Engine = 3,
    Bug = 4,
}
impl FailureKind {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Script => "FAILURE_KIND_SCRIPT",
            Self::Aborted => "FAILURE_KIND_ABORTED",
            Self::Timeout => "FAILURE_KIND_TIMEOUT",
            Self::Engine => "FAILURE_KIND_ENGINE",
            Self::Bug => "FAILURE_KIND_BUG",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "FAILURE_KIND_SCRIPT" => Some(Self::Script),
            "FAILURE_KIND_ABORTED" => Some(Self::Aborted),
            "FAILURE_KIND_TIMEOUT" => Some(Self::Timeout),
            "FAILURE_KIND_ENGINE" => Some(Self::Engine),
            "FAILURE_KIND_BUG" => Some(Self::Bug),
            _ => None,
        }
    }
}
