//! Where a series of runs changed: which of them was the first of those that are different.
//!
//! Binary segmentation: the place that divides the series best is kept if shuffled series are hardly ever divided as well, and both
//! halves are looked at again. Ranks are compared, not values: one run on a bad day is no change.

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
/// How probable a change may be by chance.
const CHANCE_MOST: f64 = 0.01;
/// Shuffled series that a change is held against: enough for that.
const SHUFFLES: usize = 1_999;

/// The changes of a series, in its order; none in one of fewer than twice [`LEVEL_LEAST`] values. The same series gives the same
/// answer.
pub fn change_points(values: &[f64]) -> Vec<ChangePoint> {
    let mut found = Vec::new();
    let mut open = vec![(0, values.len())];
    while let Some((from, end)) = open.pop() {
        if let Some((index, chance)) = divided(&values[from..end]) {
            found.push((from + index, chance));
            open.extend([(from, from + index), (from + index, end)]);
        }
    }
    found.sort_by_key(|(index, _)| *index);
    let ends: Vec<usize> = found.iter().map(|(index, _)| *index).chain([values.len()]).collect();
    let mut last = 0;
    let point = |(place, (index, chance)): (usize, (usize, f64))| {
        let before = median(&values[last..index]);
        last = index;
        ChangePoint { index, before, after: median(&values[index..ends[place + 1]]), chance }
    };
    found.into_iter().enumerate().map(point).collect()
}

/// Where a series divides best, and how probable that is by chance; `None` where it is too probable.
fn divided(values: &[f64]) -> Option<(usize, f64)> {
    if values.len() < 2 * LEVEL_LEAST {
        return None;
    }
    let mut ranks = ranks(values);
    let (index, own) = best(&ranks)?;
    let mut random = Rng::with_seed(1);
    let mut as_good = 0;
    for _ in 0..SHUFFLES {
        random.shuffle(&mut ranks);
        as_good += usize::from(best(&ranks).is_some_and(|(_, other)| other >= own));
    }
    let chance = (as_good + 1) as f64 / (SHUFFLES + 1) as f64;
    (chance <= CHANCE_MOST).then_some((index, chance))
}

/// The place whose sides differ most, and by how much: the difference of mean ranks in its own standard deviations.
fn best(ranks: &[f64]) -> Option<(usize, f64)> {
    let count = ranks.len() as f64;
    let mean = (count - 1.0) / 2.0;
    let mut sum = 0.0;
    let places = ranks.iter().enumerate().map(|(index, rank)| {
        sum += rank - mean;
        let left = (index + 1) as f64;
        (index + 1, sum.abs() / (left * (count - left)).max(1.0).sqrt())
    });
    let places = places.filter(|(index, _)| (LEVEL_LEAST..=ranks.len() - LEVEL_LEAST).contains(index));
    places.max_by(|first, second| first.1.total_cmp(&second.1))
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
        // And a change by twice the noise is mostly found.
        let changed = |seed: u64| noisy(&[(100.0, 12), (110.0, 8)], 0.05, 1_000 + seed);
        let found = (0..100).filter(|seed| !change_points(&changed(*seed)).is_empty()).count();
        assert!(found >= 80, "{found}");
    }
}
