//! What the real k6 says about a few hundred option sets. `k6/record.py` made the files and says how to make them
//! again.

use onrush_plan::Plan;
use serde_json::Value;

use super::script;

/// `totalDuration` and `maxVUs` of `k6 inspect --execution-requirements`.
#[test]
fn requirements() {
    let mut count = 0;
    for line in include_str!("k6/requirements.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let test = script(&case["options"].to_string()).unwrap();
        let plan = Plan::new(&test.scenarios, &test.share).unwrap();
        let got = format!("{} {}", plan.end_offset, plan.max_vus);
        let expect = format!("{} {}", case["totalDuration"].as_str().unwrap(), case["maxVUs"]);
        match case.get("ours").and_then(Value::as_str) {
            // Where k6 gives VUs back that its own staircase still uses, this plan keeps them.
            Some(ours) => {
                assert_ne!(got, expect, "no longer different: {line}");
                assert_eq!(got, ours, "{line}");
            }
            None => assert_eq!(got, expect, "{line}"),
        }
        count += 1;
    }
    assert!(count >= 100);
}

/// The execution block of `k6 run`, with and without segments.
#[test]
fn descriptions() {
    let mut count = 0;
    for line in include_str!("k6/descriptions.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let test = script(&case["options"].to_string()).unwrap();
        let plan = Plan::new(&test.scenarios, &test.share).unwrap();
        let got: Vec<String> = plan.descriptions.iter().map(|d| format!("{}: {}", d.name, d.text)).collect();
        let expect: Vec<&str> = case["lines"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
        assert_eq!(got, expect, "{line}");
        assert_eq!(plan.share_text(), case["share"].as_str().unwrap());
        count += 1;
    }
    assert!(count >= 3);
}

/// The iterations a segment runs, by their numbers in the test, of `k6 run`.
#[test]
fn iteration_numbers() {
    for line in include_str!("k6/iterations.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let test = script(&case["options"].to_string()).unwrap();
        let plan = Plan::new(&test.scenarios, &test.share).unwrap();
        for (j, expect) in case["iterationsInTest"].as_array().unwrap().iter().enumerate() {
            assert_eq!(plan.scenarios[0].iteration_in_test(j as u64), expect.as_u64(), "{line}");
        }
        let ids: Vec<u64> = (0..plan.max_vus).map(|k| plan.vu_id_in_test(k).unwrap()).collect();
        let used = case["vuIdsInTest"].as_array().unwrap();
        assert!(used.iter().all(|id| ids.contains(&id.as_u64().unwrap())), "{line}");
    }
}
