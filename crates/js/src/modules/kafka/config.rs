//! What scripts say about clusters: brokers, SASL, TLS; and how their options are read.

use std::{cell::RefCell, rc::Rc};

use onrush_kafka::{Address, Cluster, Login, Mechanism, Settings};
use onrush_net::{ClientAuth, OwnTls, TlsVersion};
use onrush_plan::parse_extended_duration;
use rustc_hash::FxHashMap;

use super::world::VuWorld;
use crate::{
    embed::{Ctx, Handle, JsResult, Throw, Val},
    modules::go::go_type,
    realm::files::text_of,
    vu::context::{pause, thread, vu},
};

/// How clients call themselves.
pub(super) const CLIENT_ID: &str = "onrush";

/// An object of options.
pub(super) struct Options<'a> {
    ctx: Ctx,
    /// What it is for.
    what: &'static str,
    value: &'a Handle,
}

impl<'a> Options<'a> {
    pub(super) fn new(ctx: Ctx, what: &'static str, value: &'a Handle) -> JsResult<Self> {
        if !value.is_object() || value.is_array() || value.is_function(ctx) {
            let found = go_type(ctx, value);
            return Err(Throw::error(format!("the {what} must be configured by an object, not {found}")));
        }
        Ok(Self { ctx, what, value })
    }

    pub(super) fn get(&self, name: &str) -> JsResult {
        self.value.get(self.ctx, name)
    }

    fn wrong(&self, name: &str, expected: &str, found: &Handle) -> Throw {
        let found = go_type(self.ctx, found);
        Throw::error(format!("invalid option {name} of the {}: {expected} is expected, not {found}", self.what))
    }

    /// A text, which may be empty.
    pub(super) fn text(&self, name: &str) -> JsResult<String> {
        let value = self.get(name)?;
        if !value.is_set() {
            return Ok(String::new());
        }
        if value.is_string() { value.to_text(self.ctx) } else { Err(self.wrong(name, "a string", &value)) }
    }

    pub(super) fn is(&self, name: &str) -> JsResult<bool> {
        Ok(self.get(name)?.truthy(self.ctx))
    }

    /// A whole number between two.
    pub(super) fn number(&self, name: &str, default: i64, least: i64, most: i64) -> JsResult<i64> {
        let value = self.get(name)?;
        if !value.is_set() {
            return Ok(default);
        }
        let number = value.as_number().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| self.wrong(name, "a number", &value))?;
        Ok((number as i64).clamp(least, most))
    }

    /// A time in nanoseconds, or a text with a unit; zero stands for the default. k6: Go's durations.
    pub(super) fn time_ns(&self, name: &str, default_ns: u64) -> JsResult<u64> {
        let value = self.get(name)?;
        if !value.is_set() {
            return Ok(default_ns);
        }
        let ns = if let Some(number) = value.as_number() {
            number.max(0.0) as u64
        } else if value.is_string() {
            let parsed = parse_extended_duration(&value.to_text(self.ctx)?);
            parsed
                .map_err(|error| Throw::error(format!("invalid option {name} of the {}: {error}", self.what)))?
                .as_ns()
        } else {
            return Err(self.wrong(name, "nanoseconds or a text such as \"5s\"", &value));
        };
        Ok(if ns == 0 { default_ns } else { ns.min(TIME_NS_MAX) })
    }

    /// The same in whole milliseconds.
    pub(super) fn time_ms(&self, name: &str, default_ms: u64) -> JsResult<i32> {
        let ns = self.time_ns(name, default_ms * 1_000_000)?;
        Ok(i32::try_from(ns / 1_000_000).unwrap_or(i32::MAX))
    }

    /// One of some texts.
    pub(super) fn choice<T: Copy>(&self, name: &str, default: T, choices: &[(&str, T)]) -> JsResult<T> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Ok(default);
        }
        let found = choices.iter().find(|(known, _)| *known == text);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let known: Vec<_> = choices.iter().map(|(known, _)| *known).filter(|known| !known.is_empty()).collect();
            Throw::error(format!(
                "invalid option {name} of the {}: {text:?} is not one of {}",
                self.what,
                known.join(", ")
            ))
        })
    }

    /// A list of texts.
    pub(super) fn texts(&self, name: &str) -> JsResult<Vec<String>> {
        let value = self.get(name)?;
        if !value.is_set() {
            return Ok(Vec::new());
        }
        if !value.is_array() {
            return Err(self.wrong(name, "an array of strings", &value));
        }
        let mut texts = Vec::new();
        for index in 0..value.length(self.ctx)?.min(TEXTS_MAX) {
            let item = value.get_index(self.ctx, index)?;
            if !item.is_string() {
                return Err(self.wrong(name, "an array of strings", &item));
            }
            texts.push(item.to_text(self.ctx)?);
            pause()?;
        }
        Ok(texts)
    }

    /// An object within, if there is one.
    pub(super) fn object(&self, name: &str) -> JsResult<Option<Val>> {
        let value = self.get(name)?;
        if !value.is_set() {
            return Ok(None);
        }
        if value.is_object() { Ok(Some(value)) } else { Err(self.wrong(name, "an object", &value)) }
    }

    /// The cluster that they are about.
    pub(super) fn cluster(&self) -> JsResult<Cluster<VuWorld>> {
        let mut named = self.texts("brokers")?;
        let address = self.text("address")?;
        if !address.is_empty() {
            named.push(address);
        }
        if named.is_empty() {
            return Err(Throw::error(format!("the {} has no brokers: name them as [\"host:port\"]", self.what)));
        }
        let brokers = named.iter().map(|text| Address::parse(text)).collect::<Result<Vec<_>, _>>();
        let brokers = brokers.map_err(|error| Throw::error(error.to_string()))?;
        let tls = match self.object("tls")? {
            Some(tls) => own_tls(&Options::new(self.ctx, "TLS", &tls)?)?,
            None => None,
        };
        let login = match self.object("sasl")? {
            Some(sasl) => login(&Options::new(self.ctx, "SASL login", &sasl)?, tls.is_some())?,
            None => None,
        };
        let settings = Settings { brokers, client_id: CLIENT_ID.to_owned(), login, ..Settings::default() };
        Ok(Cluster::new(VuWorld::new(tls), settings))
    }
}

fn login(options: &Options<'_>, has_tls: bool) -> JsResult<Option<Login>> {
    let algorithm = options.text("algorithm")?;
    let mechanism = match algorithm.as_str() {
        "" | "none" => return Ok(None),
        "sasl_plain" => Mechanism::Plain,
        "sasl_ssl" if has_tls => Mechanism::Plain,
        "sasl_ssl" => return Err(Throw::error("SASL_SSL needs TLS: set enableTls in tls")),
        "sasl_scram_sha256" => Mechanism::ScramSha256,
        "sasl_scram_sha512" => Mechanism::ScramSha512,
        "sasl_gssapi" | "sasl_aws_iam" | "sasl_azure_entra" | "sasl_gcp_oauth" => {
            return Err(Throw::error(format!(
                "the SASL algorithm {algorithm:?} is not available in Onrush: use SASL_PLAIN, SASL_SCRAM_SHA256 or SASL_SCRAM_SHA512"
            )));
        }
        other => return Err(Throw::error(format!("unknown SASL algorithm {other:?}"))),
    };
    let (username, password) = (options.text("username")?, options.text("password")?);
    Ok(Some(Login { mechanism, username, password }))
}

/// Settings of TLS that clients of a thread share, by what they are made of.
#[derive(Default)]
struct Known(RefCell<FxHashMap<TlsKey, Rc<OwnTls>>>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct TlsKey {
    is_unchecked: bool,
    is_newest_only: bool,
    cert_pem: String,
    key_pem: String,
    ca_pem: String,
}

fn own_tls(options: &Options<'_>) -> JsResult<Option<Rc<OwnTls>>> {
    if !options.is("enableTls")? {
        return Ok(None);
    }
    let versions = [("tlsv1.0", false), ("tlsv1.1", false), ("tlsv1.2", false), ("tlsv1.3", true)];
    let key = TlsKey {
        is_unchecked: options.is("insecureSkipTlsVerify")?,
        is_newest_only: options.choice("minVersion", false, &versions)?,
        cert_pem: pem(options, "clientCertPem")?,
        key_pem: pem(options, "clientKeyPem")?,
        ca_pem: pem(options, "serverCaPem")?,
    };
    let known = thread().slots.of::<Known>();
    if let Some(tls) = known.0.borrow().get(&key) {
        return Ok(Some(Rc::clone(tls)));
    }
    let made = thread().client.changed_tls(|tls| {
        tls.insecure_skip_verify |= key.is_unchecked;
        if key.is_newest_only {
            tls.version_min = Some(TlsVersion::Tls13);
        }
        if !key.cert_pem.is_empty() && !key.key_pem.is_empty() {
            let auth = ClientAuth {
                cert_pem: key.cert_pem.clone(),
                key_pem: key.key_pem.clone(),
                password: String::new(),
                domains: Vec::new(),
            };
            tls.auth = vec![auth];
        }
        if !key.ca_pem.is_empty() {
            let roots = tls.extra_roots_pem.get_or_insert_default();
            roots.push('\n');
            roots.push_str(&key.ca_pem);
        }
    });
    let made = Rc::new(made.map_err(|error| Throw::error(format!("invalid TLS configuration: {error}")))?);
    let mut known = known.0.borrow_mut();
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
    known.insert(key, Rc::clone(&made));
    Ok(Some(made))
}

/// A certificate or key: the PEM text itself, or the file it is in.
fn pem(options: &Options<'_>, name: &str) -> JsResult<String> {
    let text = options.text(name)?;
    if text.is_empty() || text.contains("-----BEGIN") { Ok(text) } else { text_of(vu(), &text) }
}

/// Brokers or topics in a list.
const TEXTS_MAX: u32 = 10_000;
/// Different settings that a thread keeps.
const KNOWN_MAX: usize = 64;
/// A week.
const TIME_NS_MAX: u64 = 7 * 24 * 3_600 * 1_000_000_000;
