//! `/status/{codes}`: any status, or one of several at random.

use super::request::{Outcome, bad_request, decode};
use crate::{context::Context, reply::Built, response_head::TEXT, status_code::code_in};

/// Most codes to choose from.
const CODES_MAX: usize = 100;

/// `codes` is `code[:weight]`, several of them separated by commas.
pub(super) fn status(codes: &str, cx: &mut Context) -> Outcome {
    let decoded = decode(codes);
    let choices = choices(&decoded)
        .ok_or_else(|| bad_request("status codes must be between 200 and 599, with positive weights"))?;
    Ok(with_code(choose(&choices, cx.random())))
}

fn choices(text: &str) -> Option<Vec<(u16, f64)>> {
    text.split(',')
        .map(|choice| {
            let (code, weight) = choice.split_once(':').unwrap_or((choice, "1"));
            let weight = weight.trim().parse::<f64>().ok()?;
            let usable = weight > 0.0 && weight <= 1e9;
            usable.then_some((code_in(code)?, weight))
        })
        .take(CODES_MAX)
        .collect()
}

fn choose(choices: &[(u16, f64)], random: u64) -> u16 {
    let total: f64 = choices.iter().map(|(_, weight)| weight).sum();
    // 53 random bits are what a float between 0 and 1 holds.
    let mut point = (random >> 11) as f64 / (1_u64 << 53) as f64 * total;
    for (code, weight) in choices {
        if point < *weight {
            return *code;
        }
        point -= weight;
    }
    choices.last().map_or(200, |(code, _)| *code)
}

/// A response of that status, with the headers that usually go with it.
fn with_code(code: u16) -> Built {
    match code {
        301 | 302 | 303 | 305 | 307 | 308 => Built::empty(code).with("Location", "/redirect/1"),
        401 => Built::empty(code).with("WWW-Authenticate", "Basic realm=\"onrush\""),
        407 => Built::empty(code).with("Proxy-Authenticate", "Basic realm=\"onrush\""),
        418 => Built::new(code, TEXT, b"short and stout\n".to_vec()),
        _ => Built::empty(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_codes() {
        assert_eq!(choices("200"), Some(vec![(200, 1.0)]));
        assert_eq!(choices("200:0.5, 503:2"), Some(vec![(200, 0.5), (503, 2.0)]));
        for bad in ["", "100", "600", "abc", "200,", "200:0", "200:-1", "200:NaN", "200:inf"] {
            assert_eq!(choices(bad), None, "{bad}");
        }
    }

    #[test]
    fn choices_follow_weights() {
        let codes = [(200, 1.0), (500, 3.0)];
        let chosen: Vec<u16> = (0..4).map(|quarter| choose(&codes, u64::MAX / 4 * quarter + u64::MAX / 8)).collect();
        assert_eq!(chosen, [200, 500, 500, 500]);
        assert_eq!(choose(&codes, u64::MAX), 500);
    }
}
