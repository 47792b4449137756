//! What a misspelt name may have been meant to be.

/// The name among `known` that is meant by one that is not: alike but for a letter or two.
#[must_use]
pub fn closest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    // One mistake in three letters: `vu` is near `vus`, `dns` is not near `rps`.
    let distance_max = (name.chars().count().max(3) / 3).min(DISTANCE_MAX);
    let distances = known.iter().map(|known| (strsim::osa_distance(&name, &known.to_ascii_lowercase()), *known));
    distances
        .filter(|(distance, _)| *distance <= distance_max)
        .min_by_key(|(distance, _)| *distance)
        .map(|found| found.1)
}

/// `, did you mean "vus"?`, or nothing.
#[must_use]
pub(crate) fn did_you_mean(name: &str, known: &[&str]) -> String {
    closest(name, known).map(|known| format!(", did you mean {known:?}?")).unwrap_or_default()
}

/// `did you mean "vus" instead of "vu"?`, for names with what each may have been meant to be.
#[must_use]
pub fn meant(hints: &[(String, &str)]) -> String {
    let meant: Vec<String> = hints.iter().map(|(name, meant)| format!("{meant:?} instead of {name:?}")).collect();
    format!("did you mean {}?", meant.join(", "))
}

/// Most letters that may differ, however long a name is.
const DISTANCE_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let known = ["vus", "duration", "iterations", "maxRedirects", "dns", "rps"];
        let check = |name: &str, expect: Option<&str>| assert_eq!(closest(name, &known), expect, "{name}");
        check("vu", Some("vus"));
        check("VUs", Some("vus"));
        check("duraton", Some("duration"));
        check("itertaions", Some("iterations"));
        check("maxRedirect", Some("maxRedirects"));
        check("max_redirects", Some("maxRedirects"));
        check("rate", None);
        check("x", None);
        check("", None);
        check(&"x".repeat(1_000), None);
        assert_eq!(did_you_mean("dsn", &known), ", did you mean \"dns\"?");
    }
}
