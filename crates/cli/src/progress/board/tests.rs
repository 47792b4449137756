//! How the lines look, for terminals of any size and without one.

use onrush_plan::{Options, Tier, consolidate, parse_json};
use onrush_session::protocol::Time;

use super::*;

const NO_PULSE: [Vec<String>; 2] = [Vec::new(), Vec::new()];
const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn board() -> Board {
    let options = parse_json(
        r#"{"scenarios": {
            "contacts": {"executor": "constant-vus", "vus": 20, "duration": "2s"},
            "a_very_long_scenario_name_over_thirty_chars": {"executor": "ramping-vus", "startTime": "1s",
                "stages": [{"duration": "1s", "target": 10}, {"duration": "1s", "target": 0}]},
            "rate": {"executor": "constant-arrival-rate", "rate": 10, "duration": "3s", "preAllocatedVUs": 5, "maxVUs": 7},
            "sh": {"executor": "shared-iterations", "vus": 3, "iterations": 300, "maxDuration": "2s"}}}"#,
    );
    let tiers = vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options.unwrap().options)];
    let test = consolidate(tiers).unwrap();
    Board::new(&Plan::new(&test.scenarios, &test.share).unwrap())
}

fn totals(elapsed_ms: u64) -> Totals {
    Totals {
        elapsed: Nanos(elapsed_ms * MS),
        is_paused: false,
        scenarios_at: Some(Nanos(10 * S)),
        vus_active: 26,
        vus_initialized: 38,
        complete: 28,
        interrupted: 0,
    }
}

fn time(ns: u64) -> Option<Time> {
    Some(Time(ns))
}

fn running(started_at_ns: u64, running_vus: u64, active_vus: u64, done: u64) -> ScenarioProgress {
    let started_at = time(started_at_ns);
    ScenarioProgress { started_at, running_vus, active_vus, done, ..ScenarioProgress::default() }
}

/// The layout was printed by k6 1.8.1.
#[test]
fn a_block_lines_up_as_in_k6() {
    let board = board();
    let at = 10 * S;
    let scenarios = [running(at, 20, 20, 0), running(at, 3, 5, 0), running(at, 3, 3, 0), ScenarioProgress::default()];
    let block = board.block(Stage::Running, &totals(1_500), Nanos(at + 300 * MS), &scenarios);
    assert_eq!(
        block,
        "\nrunning (01.5s), 26/38 VUs, 28 complete and 0 interrupted iterations\n\
         contacts                         [  15% ] 20 VUs   0.3s/2s \n\
         rate                             [  10% ] 3/5 VUs  0.3s/3s  10.00 iters/s\n\
         sh                               [   0% ] 3 VUs    0.3s/2s  000/300 shared iters\n\
         a_very_long_scenario_name_o... • [   0% ] waiting  0.7s    \n"
    );
}

#[test]
fn marks_tell_how_scenarios_end() {
    let board = board();
    let at = 10 * S;
    let over = |progress: ScenarioProgress| ScenarioProgress {
        over: true,
        stopping: true,
        ended_at: time(at + 3_400 * MS),
        ..progress
    };
    let scenarios =
        [over(running(at, 0, 0, 60)), running(at, 2, 5, 9), over(running(at, 0, 0, 9)), over(running(at + S, 0, 0, 9))];
    let block = board.block(Stage::Running, &totals(3_500), Nanos(at + 3_500 * MS), &scenarios);
    let marks: Vec<char> = block.lines().skip(2).filter_map(|line| line.chars().nth(31)).collect();
    assert_eq!(marks, ['✓', '↓', '✗', '✓'], "{block}");
    // A line stands still once its scenario is over.
    let later = board.block(Stage::Running, &totals(9_500), Nanos(at + 9_500 * MS), &scenarios);
    assert_eq!(block.lines().nth(4), later.lines().nth(4));
}

#[test]
fn before_the_scenarios_the_first_line_says_what_goes_on() {
    let board = board();
    let scenarios = [ScenarioProgress::default(); 4];
    let init = Totals { vus_initialized: 7, ..Totals::default() };
    let block = board.block(Stage::Initializing, &init, Nanos(0), &scenarios);
    assert!(block.starts_with("\nInit                             [  18% ] 07/38 VUs initialized\ncontacts                         [   0% ]\n"), "{block}");
    let block = board.block(Stage::Setup, &init, Nanos(0), &scenarios);
    assert!(block.starts_with("\nRun                              [ 100% ] setup()\n"), "{block}");
}

#[test]
fn a_log_has_one_line_for_all() {
    let more = ["now 12 req/s, 0.00% failed".to_owned(), "✓ 2 thresholds hold".to_owned()];
    let check = |stage: Stage, expect: &str| assert_eq!(board().line(stage, &totals(10_000), &more), expect);
    check(
        Stage::Running,
        "running (10.0s), 26/38 VUs, 28 complete and 0 interrupted iterations; now 12 req/s, 0.00% failed; ✓ 2 thresholds hold\n",
    );
    check(
        Stage::Stopping,
        "stopping, Ctrl+C ends it at once (10.0s), 26/38 VUs, 28 complete and 0 interrupted iterations; now 12 req/s, 0.00% failed; ✓ 2 thresholds hold\n",
    );
    check(Stage::Setup, "setup(); now 12 req/s, 0.00% failed; ✓ 2 thresholds hold\n");
}

#[test]
fn a_frame_fits_the_terminal() {
    let at = 10 * S;
    let scenarios = [running(at, 20, 20, 0), running(at, 3, 5, 0), running(at, 3, 3, 0), ScenarioProgress::default()];
    for columns in [200, 100, 60, 10, 1, 0] {
        let screen = Screen { columns, rows: 24, color: false };
        let frame = board().frame(
            Stage::Running,
            &totals(1_500),
            Nanos(at + 300 * MS),
            &scenarios,
            [vec!["now 203 req/s".to_owned(), "total 406 requests".to_owned()], vec!["✗ http_reqs count>9".to_owned()]],
            screen,
        );
        let widest = frame.iter().map(|line| line.replace("\x1b[0m", "").chars().count()).max();
        assert!(widest <= Some(columns), "{columns}: {frame:?}");
    }
}

#[test]
fn a_narrow_terminal_has_the_numbers() {
    let at = 10 * S;
    let scenarios = [running(at, 20, 20, 0), running(at, 3, 5, 0), running(at, 3, 3, 0), ScenarioProgress::default()];
    let screen = Screen { columns: 42, rows: 24, color: false };
    let frame = board().frame(Stage::Running, &totals(1_500), Nanos(at + 300 * MS), &scenarios, NO_PULSE, screen);
    assert_eq!(
        frame,
        [
            "",
            "01.5s, 26/38 VUs, 28 iters",
            "con...    15% 20 VUs   0.3s/2s ",
            "rate      10% 3/5 VUs  0.3s/3s  10.00 iter",
            "sh         0% 3 VUs    0.3s/2s  000/300 sh",
            "a_v... •   0% waiting  0.7s    ",
        ]
        .map(|line| if line.chars().count() == 42 { format!("{line}\x1b[0m") } else { line.to_owned() })
    );
}

#[test]
fn a_low_terminal_has_what_runs() {
    let names: Vec<String> = (0..40)
        .map(|index| {
            format!(
                r#""s{index:02}": {{"executor": "constant-vus", "duration": "9s", "startTime": "{}s"}}"#,
                index / 20
            )
        })
        .collect();
    let options = parse_json(&format!(r#"{{"scenarios": {{{}}}}}"#, names.join(",")));
    let tiers = vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options.unwrap().options)];
    let test = consolidate(tiers).unwrap();
    let board = Board::new(&Plan::new(&test.scenarios, &test.share).unwrap());
    let at = 10 * S;
    let mut scenarios = vec![running(at, 1, 1, 0); 20];
    scenarios[..15].fill(ScenarioProgress { over: true, ended_at: time(at + 100 * MS), ..running(at, 0, 0, 9) });
    scenarios.resize(40, ScenarioProgress::default());
    let screen = Screen { columns: 80, rows: 12, color: false };
    let frame = board.frame(Stage::Running, &totals(300), Nanos(at + 300 * MS), &scenarios, NO_PULSE, screen);
    let names: Vec<&str> = frame[2..].iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["s15", "s16", "s17", "s18", "s19", "s20", "…"]);
    assert_eq!(frame.last().unwrap(), "… and 34 more scenarios: 19 waiting, 15 over");
    assert!(frame.len() < 12);
}

#[test]
fn what_ended_between_two_blocks_shows_its_own_end() {
    let at = 10 * S;
    let over = ScenarioProgress { over: true, ended_at: time(at + 1_100 * MS), ..running(at, 0, 0, 300) };
    let scenarios = [running(at, 20, 20, 0), running(at, 3, 5, 0), over, ScenarioProgress::default()];
    let block = board().block(Stage::Running, &totals(2_000), Nanos(at + 2_000 * MS), &scenarios);
    assert!(block.contains("3 VUs    1.1s/2s  300/300 shared iters"), "{block}");
}
