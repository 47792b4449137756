//! Laws of all functions.

use std::collections::BTreeSet;

use crate::{Argument, FakerError, Function, Rng, Value, categories, words};

const NOW: i64 = 1_700_000_000;

/// Arguments for every parameter that may be left out by nobody.
fn arguments(function: Function) -> Vec<Option<Argument>> {
    let one = |text: &str| Some(Argument::One(text.to_owned()));
    let many = |items: &[&str]| Some(Argument::Many(items.iter().map(|item| (*item).to_owned()).collect()));
    match function.name() {
        "randomInt" | "randomUint" | "shuffleInts" => vec![many(&["1", "2", "3"])],
        "randomString" | "shuffleStrings" => vec![many(&["a", "b", "c"])],
        "intRange" | "float32Range" | "float64Range" => vec![one("3"), one("9")],
        "digitN" | "letterN" => vec![one("7")],
        "lexify" => vec![one("a??b")],
        "numerify" => vec![one("a##b")],
        "teams" => vec![many(&["Ada", "Bo", "Cy"]), many(&["red", "blue"])],
        _ => Vec::new(),
    }
}

fn check_text(name: &str, value: &Value) {
    match value {
        Value::Text(text) => {
            assert!(!text.is_empty(), "{name} is empty");
            assert!(
                !text.contains(['{', '}', '#'])
                    || matches!(name, "hexColor" | "niceColors" | "password" | "programmingLanguage"),
                "{name}: {text}"
            );
        }
        Value::List(items) => items.iter().for_each(|item| check_text(name, item)),
        Value::Object(members) => members.iter().for_each(|(_, value)| check_text(name, value)),
        Value::Float(number) => assert!(number.is_finite(), "{name}: {number}"),
        _ => {}
    }
}

#[test]
fn every_function_makes_something_and_the_same_from_the_same_seed() {
    for function in Function::all() {
        let arguments = arguments(function);
        let make = |seed| {
            let mut rng = Rng::new(seed);
            let values: Vec<Value> = (0..50)
                .map(|_| function.call(&mut rng, NOW, &arguments).unwrap_or_else(|error| panic!("{error}")))
                .collect();
            values
        };
        let values = make(11);
        values.iter().for_each(|value| check_text(function.name(), value));
        assert_eq!(values, make(11), "{}", function.name());
        if function.name() != "imageUrl" {
            assert!(values.iter().any(|value| *value != values[0]), "{} is always the same", function.name());
        }
    }
}

#[test]
fn names_are_unique_and_patterns_name_lists_that_exist() {
    let mut names = BTreeSet::new();
    for function in Function::all() {
        assert!(names.insert(function.name()), "{} twice", function.name());
        assert_eq!(Function::find(function.name()), Some(function));
        assert_eq!(Function::numbered(function.number()), Some(function));
    }
    assert_eq!(Function::find("nope"), None);
    let lists: BTreeSet<&str> = words::all().map(|(_, name, _)| name).collect();
    for (_, list, words) in words::all() {
        assert!(words.items.iter().all(|item| !item.is_empty()), "{list} has an empty item");
        for name in words.items.iter().filter(|_| words.is_pattern).flat_map(|item| item.split('{').skip(1)) {
            let name = name.split('}').next().unwrap_or_default().trim_start_matches('^');
            assert!(lists.contains(name), "{list} names {name}");
        }
        let unique: BTreeSet<_> = words.items.iter().collect();
        assert_eq!(unique.len(), words.items.len(), "{list} has an item twice");
    }
    assert_eq!(categories().count(), 28);
}

#[test]
fn the_functions_are_those_of_k6() {
    let expected = include_str!("../data/functions.txt");
    let mut missing = Vec::new();
    let mut count = 0;
    for line in expected.lines().filter(|line| !line.starts_with('#')) {
        let (category, names) = line.split_once(": ").expect("a category and its functions");
        for name in names.split(' ') {
            count += 1;
            match Function::find(name) {
                Some(function) => assert_eq!(function.category(), category, "{name}"),
                None => missing.push(name),
            }
        }
    }
    assert_eq!(missing, Vec::<&str>::new());
    assert_eq!(Function::all().count(), count, "there are functions that k6 does not have");
}

#[test]
fn wrong_arguments_are_errors() {
    let call = |name: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments.iter().map(|text| Some(Argument::One((*text).to_owned()))).collect();
        Function::find(name).expect(name).call(&mut Rng::new(1), NOW, &arguments)
    };
    let check = |name: &str, arguments: &[&str], expect: &str| {
        assert_eq!(call(name, arguments).expect_err(name).to_string(), expect);
    };
    check("digitN", &[], "missing parameter: count");
    check("intRange", &["1"], "missing parameter: max");
    check("intRange", &["1", "x"], "intRange: max must be a whole number, not \"x\"");
    check("float64Range", &["1", "NaN"], "float64Range: max must be a number, not \"NaN\"");
    check("password", &["maybe"], "password: lower must be true or false, not \"maybe\"");
    check("letterN", &["1e15"], "letterN: a value of more than 262144 bytes was asked for");
    check("dateRange", &["x"], "dateRange: startdate must be a date like 2006-01-02, not \"x\"");
    check(
        "creditCardNumber",
        &["nope"],
        "creditCardNumber: types must be all, or types of cards such as visa and mastercard, not \"nope\"",
    );
    for (name, arguments) in [
        ("dice", vec!["1e15"]),
        ("sentence", vec!["1e15"]),
        ("paragraph", vec!["1e15", "0", "0", ""]),
        ("paragraph", vec!["1", "1e15", "0", ""]),
        ("hipsterParagraph", vec!["1", "1", "1e15"]),
        ("password", vec!["true", "true", "true", "true", "true", "1e15"]),
    ] {
        let error = call(name, &arguments).expect_err(name);
        assert!(matches!(error, FakerError::TooLarge { .. }), "{name}: {error}");
    }
    // What is merely unusual is not an error.
    for (name, arguments) in [
        ("letterN", vec!["-5"]),
        ("intRange", vec!["9", "-9223372036854775808"]),
        ("float64Range", vec!["-1.7e308", "1.7e308"]),
        ("dateRange", vec!["2030-01-01", "1999-01-01", "yyyy '"]),
        ("randomInt", vec![""]),
        ("teams", vec!["", ""]),
        ("dice", vec!["3", "-5"]),
        ("number", vec!["1e300", "-1e300"]),
    ] {
        call(name, &arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
