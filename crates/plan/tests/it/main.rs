//! Tests over the whole crate: texts of every validation, tiers, recorded figures of k6, and the laws that hold for
//! any division of a test over instances.

mod json_shape;
mod laws;
mod recorded;
mod starts;
mod tiers;
mod validation;

use onrush_plan::{ConfigErrors, Consolidated, Options, Tier, consolidate, parse_json};

/// Consolidates one script's options.
fn script(options: &str) -> Result<Consolidated, String> {
    let parsed = parse_json(options).map_err(|e| e.to_string())?;
    consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, parsed.options)])
        .map_err(|e: ConfigErrors| e.to_string())
}
