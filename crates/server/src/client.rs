//! A client for one request at a time: what `onrush status` and its like need.

use std::{sync::Arc, time::Duration};

use axum::body::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Method, header};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

use crate::{Address, Trust, serve::SPEAK_TLS};

/// Asks a run.
#[derive(Debug, Clone)]
pub struct Client {
    address: Address,
    token: Option<String>,
    /// Whom to believe, where TLS is spoken.
    trust: Option<Trust>,
}

/// What it said.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body; null when it was empty.
    pub body: Value,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens, or the connection broke.
    #[error("{method} \"{url}\": {reason}")]
    Failed {
        /// `Get` or `Patch`, as k6 writes them.
        method: &'static str,
        /// The whole URL.
        url: String,
        /// In the system's words.
        reason: String,
    },
    /// It speaks HTTPS only.
    #[error("{url}: the REST API speaks HTTPS; --api-fingerprint or --api-tls-ca say which certificate to trust")]
    NeedsTls {
        /// The whole URL.
        url: String,
    },
    /// Something answers that is no run.
    #[error("{url} did not answer with JSON: is it the REST API of a run?")]
    NotJson {
        /// The whole URL.
        url: String,
    },
}

/// How long an answer may take.
const TIME_MAX: Duration = Duration::from_secs(30);
/// Largest answer: the metrics of a large test have some hundred kilobytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;

impl Client {
    /// A client of the run with the REST API at this address. With `trust`, TLS is spoken.
    pub fn new(address: Address, token: Option<String>, trust: Option<Trust>) -> Self {
        Self { address, token, trust }
    }

    /// `GET`s a path.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn get(&self, path: &str) -> Result<Answer, ClientError> {
        self.request(Method::GET, path, None)
    }

    /// `PATCH`es a path.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn patch(&self, path: &str, body: &Value) -> Result<Answer, ClientError> {
        self.request(Method::PATCH, path, Some(body.to_string()))
    }

    fn request(&self, method: Method, path: &str, body: Option<String>) -> Result<Answer, ClientError> {
        let scheme = if self.trust.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}{path}", self.address.authority());
        let name = if method == Method::GET { "Get" } else { "Patch" };
        let failed = |reason: String| ClientError::Failed { method: name, url: url.clone(), reason };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let exchange = async {
            match tokio::time::timeout(TIME_MAX, self.exchange(method, path, body)).await {
                Ok(result) => result,
                Err(_) => Err(format!("no answer within {} seconds", TIME_MAX.as_secs())),
            }
        };
        let (status, bytes) = runtime.block_on(exchange).map_err(failed)?;
        if bytes.is_empty() {
            return Ok(Answer { status, body: Value::Null });
        }
        if self.trust.is_none() && SPEAK_TLS.ends_with(&bytes) {
            return Err(ClientError::NeedsTls { url });
        }
        let body = serde_json::from_slice(&bytes).map_err(|_| ClientError::NotJson { url })?;
        Ok(Answer { status, body })
    }

    async fn exchange(&self, method: Method, path: &str, body: Option<String>) -> Result<(u16, Bytes), String> {
        let mut addresses = self.address.resolve().map_err(|error| error.to_string())?;
        for address in &mut addresses {
            // Everywhere, for a server; for a client it is here.
            if address.ip().is_unspecified() {
                address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
            }
        }
        let stream = tokio::net::TcpStream::connect(addresses.as_slice()).await.map_err(|error| error.to_string())?;
        let Some(trust) = &self.trust else { return self.ask(stream, method, path, body).await };
        let name = ServerName::try_from(self.address.host().to_owned()).map_err(|error| error.to_string())?;
        let stream = TlsConnector::from(Arc::clone(&trust.config))
            .connect(name, stream)
            .await
            .map_err(|error| error.to_string())?;
        self.ask(stream, method, path, body).await
    }

    async fn ask<S>(&self, stream: S, method: Method, path: &str, body: Option<String>) -> Result<(u16, Bytes), String>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let text = |error: hyper::Error| error.to_string();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(text)?;
        let connection = tokio::spawn(connection);
        let mut request = hyper::Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.address.authority())
            .header(header::USER_AGENT, concat!("onrush/", env!("CARGO_PKG_VERSION")));
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        // A token with a line break is not sent anywhere, nor shown.
        let request = request
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|_| "the request cannot be written: is the API token or the name one line of text?".to_owned())?;
        let response = sender.send_request(request).await.map_err(text)?;
        let status = response.status().as_u16();
        let bytes = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        connection.abort();
        Ok((status, bytes.map_err(|error| error.to_string())?.to_bytes()))
    }
}
