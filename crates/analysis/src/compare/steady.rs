//! Where the start of a run ends.

/// Seconds are looked at five at a time.
const BATCH: usize = 5;

/// How many of the first cells belong to a start that is unlike the rest; `None` where half of the run is not enough to leave it
/// behind.
///
/// MSER-5 (White 1997): the cut after which the mean of what is left is known best.
pub fn warm_up(series: &[f64]) -> Option<usize> {
    let batches: Vec<f64> = series.chunks_exact(BATCH).map(|cells| cells.iter().sum::<f64>() / BATCH as f64).collect();
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
    (count < 2 || best.1 < count / 2).then_some(best.1 * BATCH)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn a_start_is_cut_off() {
        let mut random = Rng::with_seed(7);
        let noise: Vec<f64> = std::iter::repeat_with(|| 100.0 + random.f64()).take(300).collect();
        assert!(warm_up(&noise).is_some_and(|cut| cut <= 30), "{:?}", warm_up(&noise));
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
