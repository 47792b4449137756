//! Every option k6 knows, as one tier may set it: everything is optional until the tiers are laid over each other.
//!
//! `table` has one row an option, and the readers of flags and variables; [`parse_json`] reads objects (script, config
//! file, archive). Laying the tiers over each other is [`consolidate`]; plain values with the defaults filled in are
//! [`Settings`].

mod dns;
mod fields;
mod form;
mod hosts;
mod info;
mod ips;
mod json;
mod scenario_config;
mod settings;
mod table;
mod tags;
mod text;
mod threshold;
mod tier;
mod tls;

pub use dns::{DnsConfig, DnsPolicy, DnsSelect};
pub use fields::{SCENARIO_FIELDS, ScenarioField};
pub use hosts::{HostTarget, lookup_host, matches_hostname};
pub use info::{Area, FlagInfo, Kind, OptionInfo};
pub use ips::{Cidr, IpPool};
pub use json::{Parsed, parse_json};
pub use scenario_config::{ExecutorConfig, ScenarioConfig};
pub use settings::Settings;
pub use table::{OPTIONS, Options, from_env, from_flags};
pub use tags::SystemTags;
pub use threshold::ThresholdConfig;
pub use tier::{ConfigErrors, Consolidated, Tier, consolidate, consolidate_with_exports};
pub use tls::{TlsAuth, TlsVersion, TlsVersions};
