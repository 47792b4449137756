//! The built-in metrics of k6, in one fixed order that gives their ids.
//!
//! The order is part of nothing's wire format; it only has to be the same in every registry of one process, so that
//! these ids can be constants.

use crate::registry::{Contains, MetricId, MetricKind};

/// One row of the table a new registry starts with.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) kind: MetricKind,
    pub(crate) contains: Contains,
}

macro_rules! builtins {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $kind:ident, $contains:ident;)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "variants exist only to number the constants")]
        enum Position { $($id),* }
        $($(#[$doc])* pub const $id: MetricId = MetricId(Position::$id as u32);)*
        pub(crate) const TABLE: &[Builtin] = &[$(Builtin { name: $name, kind: MetricKind::$kind, contains: Contains::$contains }),*];
    };
}

builtins! {
    /// Active VUs.
    VUS = "vus", Gauge, Default;
    /// Initialised VUs.
    VUS_MAX = "vus_max", Gauge, Default;
    /// Completed iterations.
    ITERATIONS = "iterations", Counter, Default;
    /// Length of a completed iteration, ms.
    ITERATION_DURATION = "iteration_duration", Trend, Time;
    /// Iterations that could not be started.
    DROPPED_ITERATIONS = "dropped_iterations", Counter, Default;
    /// Outcomes of `check()`.
    CHECKS = "checks", Rate, Default;
    /// Length of a `group()` call, ms.
    GROUP_DURATION = "group_duration", Trend, Time;
    /// Bytes written to the network.
    DATA_SENT = "data_sent", Counter, Data;
    /// Bytes read from the network.
    DATA_RECEIVED = "data_received", Counter, Data;
    /// HTTP requests, redirect hops included.
    HTTP_REQS = "http_reqs", Counter, Default;
    /// HTTP requests whose response was not expected.
    HTTP_REQ_FAILED = "http_req_failed", Rate, Default;
    /// Sending + waiting + receiving, ms.
    HTTP_REQ_DURATION = "http_req_duration", Trend, Time;
    /// Time before a connection was available, ms.
    HTTP_REQ_BLOCKED = "http_req_blocked", Trend, Time;
    /// TCP connect time, ms.
    HTTP_REQ_CONNECTING = "http_req_connecting", Trend, Time;
    /// TLS handshake time, ms.
    HTTP_REQ_TLS_HANDSHAKING = "http_req_tls_handshaking", Trend, Time;
    /// Time to write the request, ms.
    HTTP_REQ_SENDING = "http_req_sending", Trend, Time;
    /// Time to the first response byte, ms.
    HTTP_REQ_WAITING = "http_req_waiting", Trend, Time;
    /// Time to read the response, ms.
    HTTP_REQ_RECEIVING = "http_req_receiving", Trend, Time;
    /// WebSocket sessions started.
    WS_SESSIONS = "ws_sessions", Counter, Default;
    /// WebSocket messages sent.
    WS_MSGS_SENT = "ws_msgs_sent", Counter, Default;
    /// WebSocket messages received.
    WS_MSGS_RECEIVED = "ws_msgs_received", Counter, Default;
    /// Time from a ping to its pong, ms.
    WS_PING = "ws_ping", Trend, Time;
    /// Length of a WebSocket session, ms.
    WS_SESSION_DURATION = "ws_session_duration", Trend, Time;
    /// Time to establish a WebSocket, ms.
    WS_CONNECTING = "ws_connecting", Trend, Time;
    /// Length of a unary gRPC call, ms.
    GRPC_REQ_DURATION = "grpc_req_duration", Trend, Time;
    /// gRPC streams started.
    GRPC_STREAMS = "grpc_streams", Counter, Default;
    /// Messages sent on gRPC streams.
    GRPC_STREAMS_MSGS_SENT = "grpc_streams_msgs_sent", Counter, Default;
    /// Messages received on gRPC streams.
    GRPC_STREAMS_MSGS_RECEIVED = "grpc_streams_msgs_received", Counter, Default;
}
