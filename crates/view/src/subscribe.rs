//! The tags that the view keeps of samples.

use onrush_metrics::{SubscriptionsBuilder, SystemTag};

/// Of all metrics. A tag that a sample does not have costs nothing.
const SYSTEM_TAGS: [SystemTag; 8] = [
    SystemTag::Scenario,
    SystemTag::Group,
    SystemTag::Name,
    SystemTag::Method,
    SystemTag::Status,
    SystemTag::ErrorCode,
    SystemTag::Check,
    SystemTag::ExpectedResponse,
];

/// The part of the world a request came from.
const LOAD_ZONE: &str = "load_zone";

/// Has all metrics keep what the view tells apart, and these tags.
pub fn subscribe(builder: SubscriptionsBuilder, tags: &[String]) -> SubscriptionsBuilder {
    let builder = SYSTEM_TAGS.into_iter().fold(builder, SubscriptionsBuilder::keep_everywhere);
    let tags = tags.iter().map(String::as_str).chain([LOAD_ZONE]);
    tags.fold(builder, |builder, tag| builder.keep_key_everywhere(tag))
}
