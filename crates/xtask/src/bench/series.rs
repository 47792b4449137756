//! Medians, and ratios of what was measured side by side.

/// The median; `None` of nothing.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The median of ratios, each of two measurements of one round: a slow minute of the machine hits both.
pub(crate) fn median_ratio(ours: &[f64], theirs: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> =
        ours.iter().zip(theirs).filter(|(_, theirs)| **theirs > 0.0).map(|(ours, theirs)| ours / theirs).collect();
    median(&ratios)
}

/// How far the values are apart: lowest and highest.
pub(crate) fn range(values: &[f64]) -> Option<(f64, f64)> {
    let lowest = values.iter().copied().min_by(f64::total_cmp)?;
    let highest = values.iter().copied().max_by(f64::total_cmp)?;
    Some((lowest, highest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        // The second round was twice as slow for both: no difference.
        assert_eq!(median_ratio(&[1.0, 2.0, 1.0], &[2.0, 4.0, 2.0]), Some(0.5));
        assert_eq!(median_ratio(&[1.0], &[0.0]), None);
        assert_eq!(range(&[2.0, 1.0, 3.0]), Some((1.0, 3.0)));
    }
}
