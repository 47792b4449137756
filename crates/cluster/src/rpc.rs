//! The calls of the service `onrush.cluster.v1.Cluster`, on both ends.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::{Uri, uri::PathAndQuery};
use hyper::body::Incoming;
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    metadata::{Ascii, MetadataValue},
};
use tonic_prost::ProstCodec;
use tower_service::Service;

use crate::messages::{FetchRequest, FromAgent, FromCoordinator, FromRelay, Piece, ToRelay};

pub(crate) const JOIN: &str = "/onrush.cluster.v1.Cluster/Join";
pub(crate) const RELAY: &str = "/onrush.cluster.v1.Cluster/Relay";
pub(crate) const FETCH: &str = "/onrush.cluster.v1.Cluster/Fetch";
/// Largest message: `setup()` may return 256 MiB, and what is around it needs a little.
pub(crate) const MESSAGE_BYTES_MAX: usize = 272 << 20;

/// The metadata that lets somebody in.
pub(crate) const AUTHORIZATION: &str = "authorization";
/// The metadata that names a run among several, and has what lets an agent take part in it: `NUMBER.SECRET`.
pub(crate) const RUN: &str = "onrush-run";

/// The secret of a call.
pub(crate) fn secret_of(head: &http::HeaderMap) -> &str {
    let text = head.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.strip_prefix("Bearer ").unwrap_or_default()
}

/// A function that answers a call.
pub(crate) struct Answer<F>(pub(crate) F);

impl<F, Fut, R, S> Service<Request<R>> for Answer<F>
where
    F: FnMut(Request<R>) -> Fut,
    Fut: Future<Output = Result<Response<S>, Status>>,
{
    type Response = Response<S>;
    type Error = Status;
    type Future = Fut;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<R>) -> Fut {
        (self.0)(request)
    }
}

/// The coordinator's end of `Join`.
pub(crate) fn join_server() -> tonic::server::Grpc<ProstCodec<FromCoordinator, FromAgent>> {
    tonic::server::Grpc::new(ProstCodec::default())
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX)
}

/// The coordinator's end of `Relay`.
pub(crate) fn relay_server() -> tonic::server::Grpc<ProstCodec<ToRelay, FromRelay>> {
    tonic::server::Grpc::new(ProstCodec::default())
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX)
}

/// The coordinator's end of `Fetch`.
pub(crate) fn fetch_server() -> tonic::server::Grpc<ProstCodec<Piece, FetchRequest>> {
    tonic::server::Grpc::new(ProstCodec::default())
}

/// The end of an HTTP/2 connection of whoever dialled.
#[derive(Clone)]
pub(crate) struct Channel {
    sender: hyper::client::conn::http2::SendRequest<Body>,
    /// What each call carries.
    metadata: Vec<(&'static str, MetadataValue<Ascii>)>,
}

impl Channel {
    pub(crate) fn new(
        sender: hyper::client::conn::http2::SendRequest<Body>,
        secret: Option<&str>,
        run: Option<&str>,
    ) -> Self {
        let authorization = secret.map(|secret| (AUTHORIZATION, format!("Bearer {secret}")));
        let all = authorization.into_iter().chain(run.map(|run| (RUN, run.to_owned())));
        let metadata = all.map(|(name, value)| {
            let mut value = MetadataValue::try_from(value).expect("tokens are header texts");
            value.set_sensitive(true);
            (name, value)
        });
        Self { sender, metadata: metadata.collect() }
    }

    /// Begins an agent's connection.
    pub(crate) async fn join(
        &self,
        messages: tokio_stream::wrappers::ReceiverStream<FromAgent>,
    ) -> Result<Streaming<FromCoordinator>, Status> {
        let mut client = self.client();
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let codec: ProstCodec<FromAgent, FromCoordinator> = ProstCodec::default();
        let request = self.authorized(messages);
        Ok(client.streaming(request, PathAndQuery::from_static(JOIN), codec).await?.into_inner())
    }

    /// Begins a relay's connection.
    pub(crate) async fn relay(
        &self,
        messages: tokio_stream::wrappers::ReceiverStream<FromRelay>,
    ) -> Result<Streaming<ToRelay>, Status> {
        let mut client = self.client();
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let codec: ProstCodec<FromRelay, ToRelay> = ProstCodec::default();
        let request = self.authorized(messages);
        Ok(client.streaming(request, PathAndQuery::from_static(RELAY), codec).await?.into_inner())
    }

    /// Reads content from `offset` on.
    pub(crate) async fn fetch(&self, hash: &[u8], offset: u64) -> Result<Streaming<Piece>, Status> {
        let mut client = self.client();
        client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let codec: ProstCodec<FetchRequest, Piece> = ProstCodec::default();
        let request = self.authorized(FetchRequest { hash: hash.to_vec(), offset });
        Ok(client.server_streaming(request, PathAndQuery::from_static(FETCH), codec).await?.into_inner())
    }

    pub(crate) fn client(&self) -> tonic::client::Grpc<Self> {
        tonic::client::Grpc::with_origin(self.clone(), Uri::from_static("http://coordinator"))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX)
    }

    pub(crate) fn authorized<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        for (name, value) in &self.metadata {
            request.metadata_mut().insert(*name, value.clone());
        }
        request
    }
}

impl Service<http::Request<Body>> for Channel {
    type Response = http::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, hyper::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.sender.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(self.sender.send_request(request))
    }
}
