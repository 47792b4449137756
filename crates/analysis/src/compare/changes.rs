//! Where a series of runs changed: which of them was the first of those that are different.
//!
//! Binary segmentation: the place that divides the series best is kept if shuffled series are hardly ever divided as well, and both
//! halves are looked at again. A level that came and went again leaves both halves alike, so where there is no such place, parts
//! within the series are held against the rest of it (circular binary segmentation, Olshen et al. 2004). Ranks are compared, not
//! values: one run on a bad day is no change.

use fastrand::Rng;

/// A place where the level of a series changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The first value of the new level.
    pub index: usize,
    /// The median of the values before, back to the change before this one.
    pub before: f64,
    /// The median of those from here on, up to the next change.
    pub after: f64,
    /// How probable a change as clear as this would be in a series without any.
    pub chance: f64,
}

/// A level lasts for so many runs at least: fewer are a bad day.
pub const LEVEL_LEAST: usize = 3;
/// How probable a change may be by chance, half of it for each of the two ways to look for one.
const CHANCE_MOST: f64 = 0.01;
/// Values that are looked at, the latest of them: what parts are compared with grows with the square.
const VALUES_MOST: usize = 200;
/// Shuffled series that a change is held against: enough for that.
const SHUFFLES: usize = 1_999;

/// The changes of a series, in its order; none in one of fewer than twice [`LEVEL_LEAST`] values. The same series gives the same
/// answer.
pub fn change_points(values: &[f64]) -> Vec<ChangePoint> {
    let mut found = Vec::new();
    let mut last = values.len().saturating_sub(VALUES_MOST);
    let mut open = vec![(last, values.len())];
    while let Some((from, end)) = open.pop() {
        let mut start = from;
        for (index, chance) in divided(&values[from..end]) {
            found.push((from + index, chance));
            open.push((start, from + index));
            start = from + index;
        }
        if start > from {
            open.push((start, end));
        }
    }
    found.sort_by_key(|(index, _)| *index);
    let ends: Vec<usize> = found.iter().map(|(index, _)| *index).chain([values.len()]).collect();
    let point = |(place, (index, chance)): (usize, (usize, f64))| {
        let before = median(&values[last..index]);
        last = index;
        ChangePoint { index, before, after: median(&values[index..ends[place + 1]]), chance }
    };
    found.into_iter().enumerate().map(point).collect()
}

/// Where a series divides, and how probable that is by chance: at one place, or at both ends of a part.
fn divided(values: &[f64]) -> Vec<(usize, f64)> {
    if values.len() < 2 * LEVEL_LEAST {
        return Vec::new();
    }
    let ranks = ranks(values);
    let ways: [fn(&[f64]) -> Part; 2] = [best_place, best_part];
    let found = ways.into_iter().find_map(|best| {
        let part = best(&ranks);
        let chance = chance(&ranks, part.apart, best);
        (chance <= CHANCE_MOST / 2.0).then_some((part, chance))
    });
    let Some((part, chance)) = found else { return Vec::new() };
    let is_inside = |index: &usize| (1..values.len()).contains(index);
    [part.from, part.end].into_iter().filter(is_inside).map(|index| (index, chance)).collect()
}

/// How often a shuffled series has a part that lies as far apart.
fn chance(ranks: &[f64], apart: f64, best: fn(&[f64]) -> Part) -> f64 {
    let mut shuffled = ranks.to_vec();
    let mut random = Rng::with_seed(1);
    let mut as_good = 0;
    for _ in 0..SHUFFLES {
        random.shuffle(&mut shuffled);
        as_good += usize::from(best(&shuffled).apart >= apart);
    }
    (as_good + 1) as f64 / (SHUFFLES + 1) as f64
}

/// A part of a series, and how far it lies from the rest: the difference of mean ranks in its own standard deviations.
#[derive(Default)]
struct Part {
    from: usize,
    end: usize,
    apart: f64,
}

impl Part {
    /// `sum`: of what its ranks are above the mean.
    fn new(from: usize, end: usize, sum: f64, count: usize) -> Self {
        let (inside, outside) = ((end - from) as f64, (count - (end - from)) as f64);
        Self { from, end, apart: sum.abs() / (inside * outside).max(1.0).sqrt() }
    }

    fn or(self, other: Self) -> Self {
        if other.apart > self.apart { other } else { self }
    }
}

fn mean_rank(ranks: &[f64]) -> f64 {
    (ranks.len() as f64 - 1.0) / 2.0
}

/// The beginning that lies furthest from the rest.
fn best_place(ranks: &[f64]) -> Part {
    let (count, mean, mut sum) = (ranks.len(), mean_rank(ranks), 0.0);
    let parts = ranks.iter().zip(1..).map(|(rank, end)| {
        sum += rank - mean;
        Part::new(0, end, sum, count)
    });
    parts.filter(|part| (LEVEL_LEAST..=count - LEVEL_LEAST).contains(&part.end)).fold(Part::default(), Part::or)
}

/// The part within that does, with a level before it and one behind it.
fn best_part(ranks: &[f64]) -> Part {
    let (count, mean) = (ranks.len(), mean_rank(ranks));
    let mut best = Part::default();
    for from in LEVEL_LEAST..count.saturating_sub(2 * LEVEL_LEAST - 1) {
        let mut sum = 0.0;
        for (rank, end) in ranks[from..count - LEVEL_LEAST].iter().zip(from + 1..) {
            sum += rank - mean;
            if end - from >= LEVEL_LEAST {
                best = best.or(Part::new(from, end, sum, count));
            }
        }
    }
    best
}

/// The place of each value among all; equal ones share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|value| below(*value) + (equal(*value) - 1.0) / 2.0).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(levels: &[(f64, usize)], noise: f64, seed: u64) -> Vec<f64> {
        let mut random = Rng::with_seed(seed);
        let bell = |random: &mut Rng| (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let one = |(level, count): &(f64, usize)| -> Vec<f64> {
            (0..*count).map(|_| level * (1.0 + noise * bell(&mut random))).collect()
        };
        levels.iter().flat_map(one).collect()
    }

    #[test]
    fn a_change_is_dated() {
        let found = change_points(&noisy(&[(100.0, 12), (110.0, 8)], 0.02, 3));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(one.index, 12);
        assert!((98.0..102.0).contains(&one.before) && (108.0..112.0).contains(&one.after), "{one:?}");
    }

    #[test]
    fn two_changes_are_both_found() {
        let found = change_points(&noisy(&[(100.0, 10), (120.0, 10), (100.0, 10)], 0.02, 5));
        assert_eq!(found.iter().map(|one| one.index).collect::<Vec<_>>(), [10, 20]);
        assert!(found[0].after > 115.0 && found[1].before > 115.0, "{found:?}");
    }

    #[test]
    fn one_bad_day_is_no_change() {
        let mut values = noisy(&[(100.0, 20)], 0.02, 7);
        values[11] = 300.0;
        assert_eq!(change_points(&values), []);
        assert_eq!(change_points(&[1.0; 30]), []);
        assert_eq!(change_points(&[1.0, 2.0, 3.0, 4.0, 5.0]), []);
        assert_eq!(change_points(&[]), []);
    }

    /// Of 400 series without a change, one in a hundred may look like one with.
    #[test]
    fn false_alarms_are_as_rare_as_promised() {
        let series = |seed: u64| noisy(&[(100.0, 20)], 0.05, 1_000 + seed);
        let alarms = (0..400).filter(|seed| !change_points(&series(*seed)).is_empty()).count();
        assert!(alarms <= 10, "{alarms}");
        // And a change by three times the noise is nearly always found.
        let changed = |seed: u64| noisy(&[(100.0, 12), (115.0, 8)], 0.05, 1_000 + seed);
        let found = (0..100).filter(|seed| !change_points(&changed(*seed)).is_empty()).count();
        assert!(found >= 95, "{found}");
    }
}
