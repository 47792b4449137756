//! Passing calls on: those of a run's agents to its coordinator, and questions to its REST API. Both are on this machine.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::{net::TcpStream, time::timeout};
use tonic::{Status, body::Body};

use crate::{
    messages::{Question, Reply},
    rpc::{AUTHORIZATION, RUN},
};

/// Bytes under way, as on an agent's own connection.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;
/// How long the REST API may take to answer: it waits for effects itself.
const ANSWER_MAX: Duration = Duration::from_secs(40);
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Passes a call of an agent on to the coordinator of its run, whose secret lets it in there.
pub(super) async fn call(to: SocketAddr, secret: &str, request: Request<Incoming>) -> Response<Body> {
    let unavailable = |error: &dyn std::fmt::Display| {
        Status::unavailable(format!("the run's coordinator does not answer: {error}")).into_http()
    };
    let stream = match TcpStream::connect(to).await {
        Ok(stream) => stream,
        Err(error) => return unavailable(&error),
    };
    // Commands are small and must not wait for more.
    let _ = stream.set_nodelay(true);
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .handshake(TokioIo::new(stream))
        .await;
    let (mut sender, connection) = match connection {
        Ok(connection) => connection,
        Err(error) => return unavailable(&error),
    };
    // Its end shows in what goes over it.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    let (mut head, body) = request.into_parts();
    let Ok(authorization) = HeaderValue::from_str(&format!("Bearer {secret}")) else {
        return Status::invalid_argument("the metadata onrush-run has no secret").into_http();
    };
    head.headers.insert(AUTHORIZATION, authorization);
    head.headers.remove(RUN);
    match sender.send_request(Request::from_parts(head, body)).await {
        Ok(response) => response.map(Body::new),
        Err(error) => unavailable(&error),
    }
}

/// Asks the REST API of a run.
pub(super) async fn ask(to: SocketAddr, token: &str, question: Question) -> Result<Reply, Status> {
    let failed = |error: &dyn std::fmt::Display| {
        Status::unavailable(format!("the REST API of the run does not answer: {error}"))
    };
    let exchange = async {
        let stream = TcpStream::connect(to).await.map_err(|error| failed(&error))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
        tokio::spawn(async move {
            let _ = connection.await;
        });
        let request = Request::builder()
            .method(question.method.as_str())
            .uri(question.path.as_str())
            .header(header::HOST, to.to_string())
            .header(header::CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(Full::new(Bytes::from(question.body)))
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let response = sender.send_request(request).await.map_err(|error| failed(&error))?;
        let status = response.status().as_u16().into();
        // Its limit, or what broke the connection.
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| failed(&error))?.to_bytes();
        Ok(Reply { status, body: body.to_vec() })
    };
    match timeout(ANSWER_MAX, exchange).await {
        Ok(result) => result,
        Err(_) => Err(failed(&format!("nothing came for {} s", ANSWER_MAX.as_secs()))),
    }
}
