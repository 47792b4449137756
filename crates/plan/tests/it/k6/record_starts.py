#!/usr/bin/env python3
"""Asks a real k6 when it starts the iterations of the tests in `starts.json`, and writes down what it says.

    python3 crates/plan/tests/it/k6/record_starts.py [path/to/k6]

Recorded with k6 v1.8.1 on two cores. Every test is run three times, so that the recording tells its own jitter. The
command is

    k6 run --address= --quiet --out json=lines.json script.js

where script.js is SCRIPT below with the test's options. What is recorded already is kept: delete a test's line in
`starts.jsonl` to record it again. A test's line has, beside the test,

- `iterations`: for each run [iterationInTest, milliseconds since the test began] in the order of starts
- `vus`: where `spells` is asked for, for each run [first, last] of each spell a VU has worked without a pause: the
  starts of its first and its last iteration in milliseconds, in the order of `first`
"""
import json
import pathlib
import subprocess
import sys
import tempfile

K6 = sys.argv[1] if len(sys.argv) > 1 else "k6"
HERE = pathlib.Path(__file__).parent
RUNS = 3
# An iteration that comes later than this after the VU's last one, with `sleep` between, begins a spell.
PAUSE_MS = 150

SCRIPT = """
import exec from 'k6/execution';
import { sleep } from 'k6';
import { Trend } from 'k6/metrics';
const start = new Trend('start');
export const options = %s;
export default function () {
  start.add(exec.instance.currentTestRunDuration, { n: exec.scenario.iterationInTest, vu: exec.vu.idInTest });
  sleep(%s);
}
"""


def starts(case):
    """(milliseconds, iterationInTest, VU) of one run."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "script.js").write_text(SCRIPT % (json.dumps(case["options"]), case.get("sleep", 0)))
        command = [K6, "run", "--address=", "--quiet", "--out", "json=lines.json", "script.js"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        lines = [json.loads(line) for line in (folder / "lines.json").read_text().splitlines()]
    points = [line["data"] for line in lines if line["metric"] == "start" and line["type"] == "Point"]
    return sorted((round(p["value"], 3), int(p["tags"]["n"]), int(p["tags"]["vu"])) for p in points)


def spells(of_run):
    by_vu = {}
    for at, _, vu in of_run:
        mine = by_vu.setdefault(vu, [])
        if mine and at - mine[-1][1] < PAUSE_MS:
            mine[-1][1] = at
        else:
            mine.append([at, at])
    return sorted(spell for mine in by_vu.values() for spell in mine)


def main():
    cases = json.loads((HERE / "starts.json").read_text())
    file = HERE / "starts.jsonl"
    known = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        row = json.loads(line)
        known[json.dumps({key: row[key] for key in ("options", "sleep", "spells") if key in row})] = line
    with open(file, "w") as out:
        for case in cases:
            line = known.get(json.dumps(case))
            if line is None:
                runs = [starts(case) for _ in range(RUNS)]
                row = dict(case)
                if case.get("spells"):
                    row["vus"] = [spells(run) for run in runs]
                else:
                    row["iterations"] = [[[n, at] for at, n, _ in run] for run in runs]
                line = json.dumps(row)
            out.write(line + "\n")
            out.flush()


main()
