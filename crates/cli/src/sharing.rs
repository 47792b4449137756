//! How agents on several machines share a test: by zones and their weights (`--zone`), and by what each can bear.

use onrush_cluster::Capacity;
use onrush_session::ExitCode;

use crate::{failure::Failure, flags::Flags};

/// How shares are found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sharing {
    /// Zones and what they get together; none: agents are not told apart.
    pub(crate) zones: Vec<(String, u32)>,
    /// All agents (of a zone) get the same, whatever they can bear.
    pub(crate) is_even: bool,
}

/// What is known of an agent that has joined.
#[derive(Debug, Clone)]
pub(crate) struct Bearing {
    /// What it is called.
    pub(crate) name: String,
    /// Its zone.
    pub(crate) zone: Option<String>,
    /// What it can bear.
    pub(crate) capacity: Capacity,
}

const ZONES_MAX: usize = 64;
/// Weights of zones are percents or small numbers: with larger ones shares could not be told apart from each other.
const WEIGHT_MAX: u32 = 10_000;
/// Shares are told in quarters of a core. What says of itself that it has none gets the least there is.
const PARTS_OF_A_CORE: f64 = 4.0;

impl Sharing {
    /// Reads `--zone` and `--share`.
    ///
    /// # Errors
    /// 255 for values that cannot be used.
    pub(crate) fn new(flags: &Flags) -> Result<Self, Failure> {
        let is_even = match flags.text("share").as_deref() {
            None | Some("capacity") => false,
            Some("even") => true,
            Some(other) => {
                return Err(Failure::other(format!("invalid --share \"{other}\": use capacity or even")));
            }
        };
        let mut zones: Vec<(String, u32)> = Vec::new();
        let texts = flags.values("zone");
        for text in texts.iter().flat_map(|text| text.split(',')) {
            let wrong = |why: &str| {
                Err(Failure::other(format!("invalid --zone \"{text}\": {why}"))
                    .hint("name zones with their weights, such as --zone eu=70,us=30"))
            };
            let (name, weight) = text.rsplit_once('=').unwrap_or((text, "1"));
            let weight = weight.parse().ok().filter(|weight| (1..=WEIGHT_MAX).contains(weight));
            let Some(weight) = weight else { return wrong(&format!("a weight is 1 to {WEIGHT_MAX}")) };
            if name.is_empty() {
                return wrong("the zone has no name");
            }
            if zones.iter().any(|(other, _)| other == name) {
                return wrong("it is named twice");
            }
            zones.push((name.to_owned(), weight));
        }
        if zones.len() > ZONES_MAX {
            return Err(Failure::other(format!("a run has at most {ZONES_MAX} zones, not {}", zones.len())));
        }
        Ok(Self { zones, is_even })
    }

    /// The zones as a flag has them; `None` without.
    pub(crate) fn zones_text(zones: &[(String, u32)]) -> Option<String> {
        let texts: Vec<String> = zones.iter().map(|(name, weight)| format!("{name}={weight}")).collect();
        (!texts.is_empty()).then(|| texts.join(","))
    }

    /// The weights of agents, in their order; none where all have the same.
    ///
    /// # Errors
    /// 120 when a zone has no agent, or an agent is in none of the zones.
    pub(crate) fn weights(&self, agents: &[Bearing]) -> Result<Vec<u64>, Failure> {
        let lacks = |message: String| Failure::new(ExitCode::AgentLost, message);
        let strength = |agent: &Bearing| self.strength(agent);
        if self.zones.is_empty() {
            return Ok(reduced(agents.iter().map(strength).collect()));
        }
        let of_zone = |zone: &str| -> u64 {
            agents.iter().filter(|agent| agent.zone.as_deref() == Some(zone)).map(strength).sum()
        };
        let sums: Vec<u64> = self.zones.iter().map(|(zone, _)| of_zone(zone)).collect();
        if let Some(((zone, _), _)) = self.zones.iter().zip(&sums).find(|(_, sum)| **sum == 0) {
            let message = format!("no test was run: no agent of the zone {zone} has joined");
            return Err(lacks(message).hint(format!("start agents there with --label zone={zone}")));
        }
        // Each zone's weight, divided among its agents by their strength, without fractions.
        let whole: u128 = sums.iter().map(|sum| u128::from(*sum)).fold(1, lcm);
        let weight = |agent: &Bearing| {
            let place = self.zones.iter().position(|(zone, _)| agent.zone.as_deref() == Some(zone));
            let place = place.ok_or_else(|| {
                let zone = agent.zone.as_deref().unwrap_or("none");
                lacks(format!("no test was run: agent {} is in a zone without a share ({zone})", agent.name))
            })?;
            let part =
                u128::from(self.zones[place].1) * u128::from(strength(agent)) * (whole / u128::from(sums[place]));
            u64::try_from(part).map_err(|_| lacks("the agents are too different to share a test by zones".to_owned()))
        };
        Ok(reduced(agents.iter().map(weight).collect::<Result<_, _>>()?))
    }

    fn strength(&self, agent: &Bearing) -> u64 {
        let cores = if self.is_even { 1.0 } else { agent.capacity.cores };
        // As it is clamped, it fits; what is no number becomes 0.
        ((cores * PARTS_OF_A_CORE).round().clamp(1.0, 1e6) as u64).max(1)
    }

    /// What an agent weighs that joins the run of others, where `average` is what they weigh on average. Zones do not count:
    /// what they get together is divided already.
    pub(crate) fn of_late(&self, others: &[Bearing], late: &Bearing, average: u64) -> u64 {
        let sum: u64 = others.iter().map(|agent| self.strength(agent)).sum();
        let weight = self.strength(late) * others.len() as u64 * average / sum.max(1);
        weight.max(1)
    }
}

/// The same proportions in the smallest numbers.
fn reduced(weights: Vec<u64>) -> Vec<u64> {
    let divisor = weights.iter().fold(0, |divisor, weight| gcd(divisor, u128::from(*weight)));
    let divisor = u64::try_from(divisor).unwrap_or(1).max(1);
    weights.into_iter().map(|weight| weight / divisor).collect()
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn lcm(a: u128, b: u128) -> u128 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sharing(flags: &[(&'static str, &str)]) -> Result<Sharing, String> {
        let by_name = flags.iter().map(|(name, value)| (*name, vec![(*value).to_owned()])).collect();
        Sharing::new(&Flags { by_name, ..Flags::default() }).map_err(|error| error.message)
    }

    fn agent(zone: &str, cores: f64) -> Bearing {
        let zone = Some(zone.to_owned()).filter(|zone| !zone.is_empty());
        Bearing { name: "a".to_owned(), zone, capacity: Capacity { cores, ..Capacity::default() } }
    }

    #[test]
    fn shares_follow_what_agents_can_bear() {
        let agents = [agent("", 2.0), agent("", 4.0), agent("", 0.5), agent("", f64::NAN)];
        let weights = |flags: &[(&'static str, &str)]| sharing(flags).expect("right").weights(&agents).expect("agents");
        assert_eq!(weights(&[]), [8, 16, 2, 1]);
        assert_eq!(weights(&[("share", "even")]), [1, 1, 1, 1]);
    }

    #[test]
    fn who_joins_late_is_compared_to_the_others() {
        let others = [agent("", 2.0), agent("", 4.0)];
        let weight = |flags: &[(&'static str, &str)], cores: f64| {
            sharing(flags).expect("right").of_late(&others, &agent("", cores), 1_000)
        };
        assert_eq!([3.0, 6.0, 0.0].map(|cores| weight(&[], cores)), [1_000, 2_000, 83]);
        assert_eq!(weight(&[("share", "even")], 32.0), 1_000);
    }

    #[test]
    fn zones_get_what_their_weights_say() {
        let check = |zones: &str, agents: &[Bearing], expect: &[u64]| {
            let weights = sharing(&[("zone", zones)]).expect("right").weights(agents).expect("agents of all zones");
            assert_eq!(weights, expect, "{zones}");
        };
        // 70 % for two agents of the same strength, 30 % for one.
        check("eu=70,us=30", &[agent("eu", 2.0), agent("us", 8.0), agent("eu", 2.0)], &[7, 6, 7]);
        check("eu=1,us=1", &[agent("eu", 1.0), agent("eu", 2.0), agent("us", 1.0)], &[1, 2, 3]);
        check("amazon:us:ashburn", &[agent("amazon:us:ashburn", 3.0)], &[1]);
        let missing = sharing(&[("zone", "eu=1,us=1")]).expect("right").weights(&[agent("eu", 1.0)]);
        assert!(missing.is_err_and(|error| error.message.contains("no agent of the zone us")));
        let homeless = sharing(&[("zone", "eu")]).expect("right").weights(&[agent("eu", 1.0), agent("", 1.0)]);
        assert!(homeless.is_err_and(|error| error.message.contains("zone without a share")));
    }

    #[test]
    fn what_is_no_zone_is_refused() {
        for bad in ["", "eu=0", "eu=much", "=3", "eu=1,eu=2", "eu=70,"] {
            let error = sharing(&[("zone", bad)]).expect_err(bad);
            assert!(error.starts_with("invalid --zone"), "{error}");
        }
        assert!(sharing(&[("share", "fair")]).is_err());
        let zones = sharing(&[("zone", "eu=70,us=30")]).expect("right").zones;
        assert_eq!(Sharing::zones_text(&zones).as_deref(), Some("eu=70,us=30"));
    }
}
