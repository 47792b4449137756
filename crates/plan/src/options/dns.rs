//! The `dns` option.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    duration::{GoDuration, parse_extended_duration},
    json::object,
};

/// How names are resolved. Each part can be set by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DnsConfig {
    /// How long an answer is kept: a checked duration text, `0`, `inf`, or empty for the default.
    pub ttl: Option<String>,
    /// Which of several addresses is taken.
    pub select: Option<DnsSelect>,
    /// Which address family is wanted.
    pub policy: Option<DnsPolicy>,
}

impl DnsConfig {
    /// Reads `ttl=5m,select=first,policy=any`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut config = Self::default();
        for field in text.split(',').filter(|field| !field.is_empty()) {
            let (key, value) = match field.split_once('=') {
                Some((key, value)) if !value.is_empty() => (key, value),
                _ => return Err(format!("no value for key {field}")),
            };
            match key {
                "ttl" => config.ttl = Some(checked_ttl(value)?.to_owned()),
                "select" => config.select = Some(DnsSelect::parse(value)?),
                "policy" => config.policy = Some(DnsPolicy::parse(value)?),
                other => return Err(format!("unknown DNS configuration field: {other}")),
            }
        }
        Ok(config)
    }

    pub(super) fn apply(&mut self, over: Self) {
        if over.ttl.is_some() {
            self.ttl = over.ttl;
        }
        if over.select.is_some() {
            self.select = over.select;
        }
        if over.policy.is_some() {
            self.policy = over.policy;
        }
    }

    /// How long an answer is kept: `None` for ever, `Some(0)` not at all.
    #[must_use]
    pub fn ttl_duration(&self) -> Option<GoDuration> {
        match self.ttl.as_deref() {
            None | Some("") => Some(DEFAULT_TTL),
            Some("inf") => None,
            Some(text) => Some(parse_extended_duration(text).unwrap_or(DEFAULT_TTL)),
        }
    }
}

fn checked_ttl(text: &str) -> Result<&str, String> {
    let valid =
        text.is_empty() || text == "inf" || parse_extended_duration(text).is_ok_and(|ttl| ttl >= GoDuration::ZERO);
    if valid { Ok(text) } else { Err(format!("invalid DNS TTL: {text}")) }
}

/// `null` is an empty configuration.
impl<'de> Deserialize<'de> for DnsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Fields {
            #[serde(deserialize_with = "ttl")]
            ttl: Option<String>,
            select: Option<DnsSelect>,
            policy: Option<DnsPolicy>,
        }
        let example = r#"{ ttl: "5m", select: "random" }"#;
        let Fields { ttl, select, policy } = object(deserializer, &["ttl", "select", "policy"], example)?;
        Ok(Self { ttl, select, policy })
    }
}

fn ttl<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    if let Some(text) = &text {
        checked_ttl(text).map_err(serde::de::Error::custom)?;
    }
    Ok(text)
}

macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            pub(super) fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err(format!(concat!("{} does not belong to ", $kind, " values:" $(, " ", $text)+), other)),
                }
            }

            /// The name users write.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

text_enum! {
    /// Which of several addresses of a name is taken.
    DnsSelect, "DNSSelect",
    /// Always the first.
    First = "first",
    /// Any, at random.
    #[default]
    Random = "random",
    /// One after the other.
    RoundRobin = "roundRobin",
}

text_enum! {
    /// Which address family is wanted.
    DnsPolicy, "DNSPolicy",
    /// IPv4 if there is one.
    #[default]
    PreferIpv4 = "preferIPv4",
    /// IPv6 if there is one.
    PreferIpv6 = "preferIPv6",
    /// IPv4 or nothing.
    OnlyIpv4 = "onlyIPv4",
    /// IPv6 or nothing.
    OnlyIpv6 = "onlyIPv6",
    /// Either.
    Any = "any",
}

const DEFAULT_TTL: GoDuration = GoDuration::from_secs(300);
