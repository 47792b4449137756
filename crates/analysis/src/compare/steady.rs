//! Where the start of a run ends.

/// Seconds are looked at five at a time.
const BATCH: usize = 5;

/// Batches further from those that follow than so many times their noise are unlike them.
const UNLIKE: f64 = 3.0;

/// How many of the first cells belong to a start that is unlike the rest; `None` where half of the run is not enough to leave it
/// behind.
///
/// MSER-5 (White 1997): the cut after which the mean of what is left is known best. In a run that is noise from its beginning that
/// is any place; so what lies before it is kept as far back as it is like what follows.
pub fn warm_up(series: &[f64]) -> Option<usize> {
    let batches: Vec<f64> = series.chunks_exact(BATCH).map(|cells| cells.iter().sum::<f64>() / BATCH as f64).collect();
    let cut = best_cut(&batches);
    let rest = &batches[cut..];
    let mean = rest.iter().sum::<f64>() / rest.len().max(1) as f64;
    let unlike = UNLIKE * noise(&batches);
    let alike = batches[..cut].iter().rev().take_while(|batch| (**batch - mean).abs() <= unlike).count();
    let cut = cut - alike;
    (batches.len() < 2 || cut < batches.len() / 2).then_some(cut * BATCH)
}

fn best_cut(batches: &[f64]) -> usize {
    let count = batches.len();
    // Sums from the back, so that each cut costs the same.
    let (mut sum, mut squares) = (0.0, 0.0);
    // Around a value near the mean, or squares of large numbers would swallow what differs.
    let middle = batches.iter().sum::<f64>() / count.max(1) as f64;
    let mut best = (f64::INFINITY, 0);
    for cut in (0..count).rev() {
        let value = batches[cut] - middle;
        sum += value;
        squares += value * value;
        let left = (count - cut) as f64;
        if cut > count / 2 {
            continue;
        }
        let error = (squares - sum * sum / left).max(0.0) / (left * left);
        // Of cuts that are as good the earliest.
        if error <= best.0 {
            best = (error, cut);
        }
    }
    best.1
}

/// The standard deviation of batches, from the median of the differences between neighbours: neither a drift nor a start is noise.
fn noise(batches: &[f64]) -> f64 {
    /// Of a normal distribution: the median of the magnitude, in standard deviations.
    const MEDIAN: f64 = 0.6745;
    let mut differences: Vec<f64> = batches.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    differences.sort_by(f64::total_cmp);
    let median = differences.get(differences.len() / 2).copied().unwrap_or(0.0);
    median / (MEDIAN * std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn a_start_is_cut_off() {
        let mut random = Rng::with_seed(7);
        let noise: Vec<f64> = std::iter::repeat_with(|| 100.0 + random.f64()).take(300).collect();
        assert_eq!(warm_up(&noise), Some(0));
        // Whatever the noise is like.
        let cuts: Vec<_> = (0..200)
            .map(|seed| {
                let mut random = Rng::with_seed(seed);
                let noise: Vec<f64> = std::iter::repeat_with(|| 100.0 + random.f64()).take(120).collect();
                warm_up(&noise)
            })
            .collect();
        assert!(cuts.iter().filter(|cut| **cut == Some(0)).count() >= 180, "{cuts:?}");
        // Twenty seconds in which caches fill.
        let mut slow = noise;
        for (second, value) in slow.iter_mut().enumerate().take(20) {
            *value += 50.0 * (20 - second) as f64;
        }
        let cut = warm_up(&slow).unwrap_or_default();
        assert!((20..=50).contains(&cut), "{cut}");
    }

    #[test]
    fn what_never_settles_is_said() {
        let drift: Vec<_> = (0..300).map(f64::from).collect();
        assert_eq!(warm_up(&drift), None);
        for short in [&[][..], &[1.0], &[1.0; 5]] {
            assert_eq!(warm_up(short), Some(0));
        }
        assert_eq!(warm_up(&[5.0; 100]), Some(0));
    }
}
