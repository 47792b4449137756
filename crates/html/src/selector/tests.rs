//! Selectors against one page, and random texts.

use std::{cell::Cell, rc::Rc};

use proptest::prelude::*;

use super::*;
use crate::{Account, Limits, Selection};

const PAGE: &str = r#"<div id=a class="x y" title="Hello World" lang=en-US><p id=b>one</p><p id=c class=x>two <b id=d>BOLD</b></p></div>
<form id=f><input id=i type=checkbox checked><fieldset id=s disabled><legend id=l><input id=j></legend><input id=k></fieldset></form><a id=h href="/x.PDF">y</a>"#;

fn page() -> Rc<Document> {
    Rc::new(Document::parse(PAGE, "", &Limits::default(), &Account::default()).unwrap())
}

fn check(selector: &str, expect: &str) {
    let document = page();
    let found = Selection::of_document(&document).find(selector);
    let ids: Vec<&str> = found.nodes().iter().filter_map(|node| document.attribute(*node, "id")).collect();
    assert_eq!(ids.join(" "), expect, "{selector}");
}

fn error(selector: &str) -> String {
    Selector::parse(selector).unwrap_err().to_string()
}

#[test]
fn names_and_attributes() {
    check("p", "b c");
    check("P.x", "c");
    check("#a > .x, #b", "b c");
    check("[title]", "a");
    check("[title~=World]", "a");
    check("[href$='.pdf' i]", "h");
    check("[href#=(^/x)]", "h");
    check("p[class!=x]", "b");
    check("[lang|=en]", "a");
    check("p + p", "c");
    check("div p b", "d");
    check("/* c */ p", "b c");
    check("\\70", "b c");
}

/// What k6 1.8.1 finds.
#[test]
fn case_is_that_of_any_script() {
    let markup = "<p title='ГОТОВ'>Имя</p><p>имя</p><p>Éa ΟΔΟΣΑ</p><p>éA İI</p>";
    let document = Rc::new(Document::parse(markup, "", &Limits::default(), &Account::default()).unwrap());
    let count = |selector: &str| Selection::of_document(&document).find(selector).len();
    for (selector, expect) in [
        ("p:contains('Имя')", 2),
        ("p:contains(ИМЯ)", 2),
        ("p:containsOwn('Имя')", 2),
        ("p:not(:contains('Имя'))", 2),
        ("body:has(p:contains('Имя'))", 1),
        ("p:contains('É')", 2),
        ("p:contains('ΟΔΟΣ')", 1),
        ("p:contains('İ')", 1),
        ("p[title='готов' i]", 1),
    ] {
        assert_eq!(count(selector), expect, "{selector}");
    }
}

#[test]
fn pseudo_classes() {
    check("p:nth-child(-n+1)", "b");
    check("p:nth-last-of-type(odd)", "c");
    check("p:not(.x)", "b");
    check("div:has(b)", "a");
    check("div:haschild(b)", "");
    check("b:contains(bold)", "d");
    check("p:containsOwn('bold')", "");
    check("b:matches(^BO)", "d");
    check(":checked", "i");
    check("input:disabled", "k");
    check("input:enabled", "i j");
    check(":hover", "");
}

#[test]
fn what_is_no_selector_is_told() {
    assert_eq!(error("p >"), "a selector is expected at character 4 of the selector \"p >\"");
    assert_eq!(error("a:nope"), "there is no pseudo class :nope at character 3 of the selector \"a:nope\"");
    assert_eq!(error("a]"), "this cannot be part of a selector at character 2 of the selector \"a]\"");
    assert!(error("[a=").contains("a name is expected"));
    assert!(error(":matches([)").contains("regular expression"));
    assert!(error(&":not(".repeat(50_000)).contains("at most 16384 bytes"));
    assert!(error(&":not(".repeat(50)).contains("nested at most 16 deep"));
    check("p >", "");
}

#[test]
fn long_ways_up_and_deep_questions_take_no_time() {
    let markup = "<div>".repeat(500) + "<p>";
    let document = Rc::new(Document::parse(&markup, "", &Limits::default(), &Account::default()).unwrap());
    let count = |selector: &str| Selection::of_document(&document).find(selector).len();
    assert_eq!(count(&format!("nav{} p", " div".repeat(20))), 0);
    assert_eq!(count(&format!("html{} p", " div".repeat(20))), 1);
    assert_eq!(count(&format!("html >{} > p", " div".repeat(20))), 0);
    assert_eq!(count(&format!("{}nav{}", "div:has(".repeat(16), ")".repeat(16))), 0);
    assert_eq!(count(&format!("{}p{}", "div:has(".repeat(16), ")".repeat(16))), 485);
    let rows = "<i></i><b></b>".repeat(200);
    let document = Rc::new(Document::parse(&rows, "", &Limits::default(), &Account::default()).unwrap());
    let count = |selector: &str| Selection::of_document(&document).find(selector).len();
    assert_eq!(count(&format!("nav{} ~ i", " ~ b".repeat(20))), 0);
    assert_eq!(count("nav + b ~ i ~ b ~ i"), 0);
    assert_eq!(count("i + b ~ i ~ b"), 199);
}

thread_local! {
    /// Questions whether to go on, and after how many of them the answer is no.
    static ASKED: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// Nodes that match in a document of this markup, and how often the search asked whether to go on.
fn asked(markup: &str, selector: &str, ended_after: u32) -> (usize, u32) {
    fn go_on() -> bool {
        let (asked, ended_after) = ASKED.get();
        ASKED.set((asked + 1, ended_after));
        asked < ended_after
    }
    ASKED.set((0, u32::MAX));
    let limits = Limits { go_on, ..Limits::default() };
    let document = Rc::new(Document::parse(markup, "", &limits, &Account::default()).unwrap());
    ASKED.set((0, ended_after));
    let found = Selection::of_document(&document).find(selector).len();
    (found, ASKED.get().0)
}

#[test]
fn searches_that_take_long_ask_whether_to_go_on() {
    const ROWS: usize = 4_000;
    for selector in ["i:nth-last-child(2n)", "b ~ i", "i:nth-last-of-type(2n)"] {
        let (found, all) = asked(&"<i></i>".repeat(ROWS), selector, u32::MAX);
        assert!(all > 1_000, "{selector}: asked {all} times");
        assert_eq!(found, if selector.contains("nth") { ROWS / 2 } else { 0 }, "{selector}");
        let (found, all) = asked(&"<i></i>".repeat(ROWS), selector, 100);
        assert!(found < ROWS / 2 && all < 200, "{selector}: {found} found, asked {all} times");
    }
    for selector in ["div:has(input)", ":has(:has(s))"] {
        let (_, all) = asked(&("<div>".repeat(100) + &"<i></i>".repeat(ROWS)), selector, u32::MAX);
        assert!(all > 100, "{selector}: asked {all} times");
    }
    let fields = format!("<fieldset disabled>{}<legend>{}", "<i></i>".repeat(ROWS), "<input>".repeat(ROWS));
    assert!(asked(&fields, "input:disabled", u32::MAX).1 > 1_000);
}

#[test]
fn failures_go_back_no_further_than_they_must() {
    let check = |markup: &str, selector: &str, expect: usize| {
        let document = Rc::new(Document::parse(markup, "", &Limits::default(), &Account::default()).unwrap());
        assert_eq!(Selection::of_document(&document).find(selector).len(), expect, "{selector}");
    };
    // The nearest candidate fails, one further away does not.
    check("<nav><s1><u1><s1><q1>", "nav > s1 q1", 1);
    check("<nav></nav><u1><s1><u1><q1>", "nav ~ u1 q1", 1);
    check("<nav></nav><b></b><i></i><b></b><s></s>", "nav + b ~ s", 1);
    check("<div><nav></nav><u><i></i><u></u></u></div>", "nav + u u", 1);
    check("<u><i></i><b></b></u>", "u > i ~ b", 1);
    check("<u><i></i><b></b></u>", "s > i ~ b", 0);
}

proptest! {
    #[test]
    fn no_text_panics(text in "([a-z*#.,:>+~ ]|\\[|\\]|\\(|\\)|\"|'|\\\\|=|not|nth-child|-n|[0-9]|/\\*|\\*/|\\PC){0,40}") {
        let document = page();
        if let Ok(selector) = Selector::parse(&text) {
            for node in document.descendants(NodeId::DOCUMENT) {
                let _ = selector.matches(&document, node);
            }
        }
    }

    #[test]
    fn an_identifier_finds_itself(name in "[a-zA-Z_é][a-zA-Z0-9_é-]{0,12}") {
        let markup = format!("<i id='{name}' class='q {name}' data-x='{name}'>");
        let document = Rc::new(Document::parse(&markup, "", &Limits::default(), &Account::default()).unwrap());
        for selector in [format!("#{name}"), format!(".{name}"), format!("[data-x={name}]"), format!("[data-x='{name}']")] {
            prop_assert_eq!(Selection::of_document(&document).find(&selector).len(), 1);
        }
    }
}
