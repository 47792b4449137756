//! Searching finds what stock QuickJS finds: RegExp scans and string searches, against definitions that use neither.

mod support;

use support::{Engine, Layout, with_stack};

/// Random patterns and strings; four texts a pattern.
const ROUNDS: u32 = 6000;

#[test]
fn searches_agree_with_their_definitions() {
    let source = include_str!("search/differential.js").replace("ROUNDS", &ROUNDS.to_string());
    let result = with_stack(|| {
        let engine = Engine::new(Layout::Plain);
        engine.eval("differential.js", &source, true).unwrap_or_else(|error| panic!("{error}"));
        engine.eval("result", "result", false).expect("a result")
    });
    println!("{result}");
    let count = |word: &str| -> u32 {
        let words: Vec<_> = result.split(' ').collect();
        let at = words.iter().position(|w| w.trim_end_matches(',') == word).expect("the word is in the result");
        words[at - 1].parse().expect("a number")
    };
    assert!(count("patterns") > ROUNDS / 2, "{result}");
    assert!(count("matches") > ROUNDS, "{result}");
}
