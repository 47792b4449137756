//! `--out kafka` and `--out xk6-kafka`: a message for each sample, as k6's extension sends them.

use std::time::Duration;

use onrush_output::{
    Config, Kind, MessageFormat, Target,
    influx::FieldKinds,
    kafka::{self, Address, Codec, Login, Mechanism},
};

use super::{
    asked::{Asked, duration},
    output::Wish,
};
use crate::{failure::Failure, flags::parse_bool, masked};

/// What an option is called in the argument and in the config file, and the variable that says it as well.
type Name = (&'static str, &'static str);

const BROKERS: Name = ("brokers", "K6_KAFKA_BROKERS");
const TOPIC: Name = ("topic", "K6_KAFKA_TOPIC");
const FORMAT: Name = ("format", "K6_KAFKA_FORMAT");
const PUSH_INTERVAL: Name = ("pushInterval", "K6_KAFKA_PUSH_INTERVAL");
const USER: Name = ("user", "K6_KAFKA_SASL_USER");
const PASSWORD: Name = ("password", "K6_KAFKA_SASL_PASSWORD");
const AUTH_MECHANISM: Name = ("auth_mechanism", "K6_KAFKA_AUTH_MECHANISM");
const SSL: Name = ("ssl", "K6_KAFKA_SSL");
const INSECURE: Name = ("insecureSkipTLSVerify", "K6_KAFKA_INSECURE_SKIP_TLS_VERIFY");
const VERSION: Name = ("version", "K6_KAFKA_VERSION");
const LOG_ERROR: Name = ("logError", "K6_KAFKA_LOG_ERROR");
const TAGS_AS_FIELDS: Name = ("influxdb.tagsAsFields", "ONRUSH_KAFKA_TAGS_AS_FIELDS");
const ACKS: Name = ("acks", "ONRUSH_KAFKA_ACKS");
const COMPRESSION: Name = ("compression", "ONRUSH_KAFKA_COMPRESSION");

/// All there are; `version` is read and changes nothing: the protocol's versions are those of all brokers from 2.1 on.
const KNOWN: [Name; 14] = [
    BROKERS,
    TOPIC,
    FORMAT,
    PUSH_INTERVAL,
    USER,
    PASSWORD,
    AUTH_MECHANISM,
    SSL,
    INSECURE,
    VERSION,
    LOG_ERROR,
    TAGS_AS_FIELDS,
    ACKS,
    COMPRESSION,
];

/// `kafka=brokers={host:9092,other:9092},topic=t,format=json`.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    asked.naming(config(asked).map(Wish::Raw))
}

fn config(asked: &Asked<'_>) -> Result<Config, Failure> {
    let options = Options::new(asked)?;
    let brokers = options.text(BROKERS).ok_or_else(|| {
        Failure::other("it needs brokers")
            .hint("write --out kafka=brokers=host:9092,topic=NAME, or set K6_KAFKA_BROKERS")
    })?;
    let named = brokers.split(',').map(str::trim).filter(|broker| !broker.is_empty());
    let broker = |text: &str| {
        // What is before the sign may be a user and a password.
        if text.contains('@') {
            return Err(Failure::other(format!("invalid broker address \"{}\"", masked::address(text)))
                .hint(format!("set {} and {}", USER.1, PASSWORD.1)));
        }
        Address::parse(text).map_err(|error| Failure::other(error.to_string()))
    };
    let brokers = named.map(broker).collect::<Result<Vec<_>, _>>();
    let topic = options.text(TOPIC).ok_or_else(|| {
        Failure::other("it needs a topic").hint("write --out kafka=brokers=host:9092,topic=NAME, or set K6_KAFKA_TOPIC")
    })?;
    let login = login(&options)?;
    let target = kafka::Config {
        brokers: brokers?,
        topic,
        login,
        tls: options.switch(SSL)?.unwrap_or(false),
        is_unchecked: options.switch(INSECURE)?.unwrap_or(false),
        acks_all: options.choice(ACKS, &[("1", false), ("all", true), ("-1", true)])?.unwrap_or(false),
        codec: options.choice(COMPRESSION, &CODECS)?.unwrap_or_default(),
        push_interval: options.interval()?,
        is_silent: !options.switch(LOG_ERROR)?.unwrap_or(true),
    };
    Ok(Config { kind: Kind::Messages(format(&options)?), target: Target::Kafka(Box::new(target)) })
}

const CODECS: [(&str, Codec); 5] = [
    ("none", Codec::None),
    ("gzip", Codec::Gzip),
    ("snappy", Codec::Snappy),
    ("lz4", Codec::Lz4),
    ("zstd", Codec::Zstd),
];

fn format(options: &Options<'_>) -> Result<MessageFormat, Failure> {
    let is_influx = options.choice(FORMAT, &[("json", false), ("influxdb", true)])?.unwrap_or(false);
    let apart = options.text(TAGS_AS_FIELDS).unwrap_or_else(|| FieldKinds::OF_K6.to_owned());
    let apart = FieldKinds::parse(&apart).map_err(|error| Failure::other(error.to_string()))?;
    Ok(if is_influx { MessageFormat::Influx(apart) } else { MessageFormat::Json })
}

fn login(options: &Options<'_>) -> Result<Option<Login>, Failure> {
    let mechanisms = [
        ("none", None),
        ("plain", Some(Mechanism::Plain)),
        ("scram-sha-256", Some(Mechanism::ScramSha256)),
        ("scram-sha-512", Some(Mechanism::ScramSha512)),
    ];
    let Some(mechanism) = options.choice(AUTH_MECHANISM, &mechanisms)?.flatten() else { return Ok(None) };
    match (options.text(USER), options.text(PASSWORD)) {
        (Some(username), Some(password)) => Ok(Some(Login { mechanism, username, password })),
        // k6's text.
        _ => Err(Failure::other("user and password are required when auth mechanism is provided")
            .hint(format!("set {} and {}", USER.1, PASSWORD.1))),
    }
}

/// What the argument says, and variables and the config file behind it.
struct Options<'a> {
    asked: &'a Asked<'a>,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Options<'a> {
    fn new(asked: &'a Asked<'a>) -> Result<Self, Failure> {
        let keys = KNOWN.map(|(key, _)| key).join(", ");
        let hint =
            format!("write key=value, with commas between and in braces what has commas itself; the keys are {keys}");
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in parts(asked.argument_or_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if !KNOWN.iter().any(|(known, _)| *known == key) || !part.contains('=') {
                // It may be the rest of a password.
                let is_secret = pairs.iter().any(|(key, _)| *key == PASSWORD.0);
                let shown = if is_secret { "behind the password" } else { masked::key(key) };
                // k6's text.
                return Err(Failure::other(format!("Unknown or unparsed options '{shown}'")).hint(hint));
            }
            let bare = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')).unwrap_or(value);
            pairs.push((key, bare));
        }
        Ok(Self { asked, pairs })
    }

    fn text(&self, (key, variable): Name) -> Option<String> {
        let said = self.pairs.iter().rev().find(|(known, _)| *known == key).map(|(_, value)| (*value).to_owned());
        said.filter(|value| !value.is_empty()).or_else(|| self.asked.text(variable, key))
    }

    fn switch(&self, name: Name) -> Result<Option<bool>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let wrong = || Failure::other(format!("invalid {} \"{text}\"", name.0)).hint("use true or false");
        parse_bool(&text).map(Some).ok_or_else(wrong)
    }

    fn interval(&self) -> Result<Duration, Failure> {
        let Some(text) = self.text(PUSH_INTERVAL) else { return Ok(kafka::Config::PUSH_INTERVAL) };
        let wrong = || Failure::other(format!("invalid pushInterval \"{text}\"")).hint("use a duration, such as 1s");
        duration(&text).ok_or_else(wrong)
    }

    /// One of some words.
    fn choice<T: Copy>(&self, name: Name, choices: &[(&str, T)]) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match choices.iter().find(|(word, _)| *word == text) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => {
                let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
                Err(Failure::other(format!("invalid {} \"{text}\"", name.0))
                    .hint(format!("use one of {}", words.join(", "))))
            }
        }
    }
}

/// Splits at commas that are not in braces.
fn parts(argument: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let split = argument.split(|sign: char| {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        sign == ',' && depth == 0
    });
    split.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::flags::Flags;

    fn read_all(argument: &str, env: &[(&str, &str)], collector: Value) -> Result<Config, Failure> {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let flags = Flags { env, ..Flags::default() };
        let collectors: Map<String, Value> = [("kafka".to_owned(), collector)].into_iter().collect();
        config(&Asked::new(&["kafka", "xk6-kafka"], argument, &flags, &collectors))
    }

    fn target(config: &Config) -> &kafka::Config {
        match &config.target {
            Target::Kafka(target) => target,
            _ => panic!("it goes to Kafka"),
        }
    }

    #[test]
    fn arguments() {
        let check = |argument: &str, expect: Result<&str, &str>| {
            let shown = read_all(argument, &[], Value::Null).map(|config| config.to_string());
            let shown = shown.map_err(|failure| failure.message);
            assert_eq!(shown.as_deref().map_err(String::as_str), expect, "{argument}");
        };
        check("brokers={a:9092,b:9093},topic=t,format=json", Ok("kafka (t at a:9092,b:9093)"));
        check("topic=t,brokers=a", Ok("kafka (t at a:9092)"));
        check("brokers={[::1]:1, b},topic={t},", Ok("kafka (t at [::1]:1,b:9092)"));
        check("topic=t", Err("it needs brokers"));
        check("brokers=a", Err("it needs a topic"));
        check("brokers=a:x,topic=t", Err("invalid broker address \"a:x\": the port is not a number up to 65535"));
        check("brokers=a,topic=t,colour=red", Err("Unknown or unparsed options 'colour'"));
        // Without braces the second broker is an option of its own.
        check("brokers=a:1,b:2,topic=t", Err("Unknown or unparsed options 'b'"));
        // What may be a part of a secret is not repeated.
        check("brokers=a,topic=t,password=s3,cret", Err("Unknown or unparsed options 'behind the password'"));
        check("brokers=a,topic=t,format=xml", Err("invalid format \"xml\""));
        check("brokers=a,topic=t,acks=0", Err("invalid acks \"0\""));
        check("brokers=a,topic=t,compression=rar", Err("invalid compression \"rar\""));
        check("brokers=a,topic=t,ssl=maybe", Err("invalid ssl \"maybe\""));
        check("brokers=a,topic=t,pushInterval=0s", Err("invalid pushInterval \"0s\""));
        let required = "user and password are required when auth mechanism is provided";
        check("brokers=a,topic=t,auth_mechanism=plain,user=u", Err(required));
        check("brokers=a,topic=t,auth_mechanism=none,user=u", Ok("kafka (t at a:9092)"));
        let twice = "a tag name (a) shows up more than once in InfluxDB field type configurations";
        check("brokers=a,topic=t,influxdb.tagsAsFields={a,a}", Err(twice));
    }

    #[test]
    fn the_argument_comes_before_variables_and_these_before_the_config_file() {
        let env =
            [("K6_KAFKA_TOPIC", "of-variable"), ("K6_KAFKA_BROKERS", "v:1,w:2"), ("K6_KAFKA_SASL_PASSWORD", "s3cret")];
        let collector = json!({ "topic": "of-file", "user": "ann", "auth_mechanism": "scram-sha-512", "ssl": true });
        let config = read_all("topic=said,acks=all,compression=lz4", &env, collector.clone()).expect("it is valid");
        let target = target(&config);
        assert_eq!(config.to_string(), "kafka (said at v:1,w:2)");
        let login = target.login.as_ref().expect("a login");
        assert_eq!((login.username.as_str(), login.mechanism), ("ann", Mechanism::ScramSha512));
        assert!(target.tls && target.acks_all && target.codec == Codec::Lz4 && !target.is_unchecked);
        assert!(!format!("{config:?}").contains("s3cret"), "{config:?}");
        let config = read_all("", &env, collector).expect("it is valid");
        assert_eq!(config.to_string(), "kafka (of-variable at v:1,w:2)");
    }
}
