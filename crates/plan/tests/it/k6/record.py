#!/usr/bin/env python3
"""Asks a real k6 about the option sets of `cases.json` and of a seeded generator, and writes down what it says.

    python3 crates/plan/tests/it/k6/record.py [path/to/k6]

Recorded with k6 v1.8.1. For every option set the command is

    k6 inspect --execution-requirements script.js      requirements.jsonl (totalDuration, maxVUs), options.jsonl
    k6 run --address= script.js                        descriptions.jsonl (execution block), iterations.jsonl

where script.js is `export const options = {…}; export default function () {}` and the exports that are named.

k6's reservation of a ramping-vus scenario forgets VUs when the number rises again within gracefulRampDown but not as
high as before. Those sets have the key `ours`, the figures of this crate, which keeps them.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

K6 = sys.argv[1] if len(sys.argv) > 1 else "k6"
HERE = pathlib.Path(__file__).parent
SEGMENTS = [
    ("1/4:1/2", "0,1/4,1/2,1"), ("1/3", "0,1/3,2/3,1"), ("20%:1/2", None), ("1/7:2/7", "0,1/7,2/7,1"),
    ("1/2:3/4", "0,1/2,3/4,1"), ("0:1/10", None), ("5/6:1", "0,1/6,3/6,5/6,1"),
]


def k6(args, options, body="", timeout=None):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "script.js"
        script.write_text(
            "import exec from 'k6/execution';\n"
            f"export const options = {json.dumps(options)};\n"
            f"export default function () {{ {body} }}\nexport function contacts() {{}}\n"
        )
        run = subprocess.run([K6, *args, str(script)], capture_output=True, text=True, timeout=timeout)
        return run.stdout + run.stderr if args[0] == "run" else run.stdout


def inspect(options):
    return json.loads(k6(["inspect", "--execution-requirements"], options))


def write(name, rows):
    with open(HERE / name, "w") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def ramping(rnd):
    scenario = {
        "executor": "ramping-vus",
        "startVUs": rnd.choice([0, 1, 3, 10]),
        "stages": [
            {"duration": f"{rnd.choice([0, 0, 1, 2, 3, 5, 10])}s", "target": rnd.choice([0, 1, 2, 3, 5, 8, 10, 20])}
            for _ in range(rnd.randint(1, 6))
        ],
    }
    if scenario["startVUs"] == 0 and not any(s["target"] for s in scenario["stages"]):
        scenario["startVUs"] = 1
    if rnd.random() < 0.8:
        scenario["gracefulRampDown"] = rnd.choice(["0s", "1s", "2s", "4s", "7s"])
    return scenario


def scenario(rnd):
    duration, vus = f"{rnd.randint(1, 20)}s", rnd.randint(1, 20)
    arrival = {"preAllocatedVUs": rnd.randint(0, 9)}
    arrival["maxVUs"] = arrival["preAllocatedVUs"] + rnd.randint(0, 9)
    made = rnd.choice([
        lambda: ramping(rnd),
        lambda: {"executor": "constant-vus", "vus": vus, "duration": duration},
        lambda: {"executor": "shared-iterations", "vus": vus, "iterations": vus + 20, "maxDuration": duration},
        lambda: {"executor": "per-vu-iterations", "vus": vus, "iterations": 9, "maxDuration": duration},
        lambda: {"executor": "constant-arrival-rate", "rate": vus, "duration": duration, **arrival},
        lambda: {"executor": "ramping-arrival-rate", "stages": [{"duration": duration, "target": vus}], **arrival},
    ])()
    graceful_stop = rnd.choice(["0s", "1s", "5s", "30s", None])
    if graceful_stop:
        made["gracefulStop"] = graceful_stop
    if rnd.random() < 0.5:
        made["startTime"] = f"{rnd.randint(0, 25)}s"
    return made


def generated(count, seed):
    rnd = random.Random(seed)
    for i in range(count):
        if i % 3 == 0:
            options = {"scenarios": {"a": ramping(rnd)}}
        elif i % 3 == 1:
            # A second scenario that asks how many VUs the first keeps during one second.
            probe = {"executor": "constant-vus", "vus": 1000, "duration": "1s", "gracefulStop": "0s",
                     "startTime": f"{rnd.randint(0, 40)}.5s"}
            options = {"scenarios": {"a": ramping(rnd), "b": probe}}
        else:
            options = {"scenarios": {f"s{n}": scenario(rnd) for n in range(rnd.randint(1, 5))}}
        if rnd.random() < 0.4:
            segment, sequence = rnd.choice(SEGMENTS)
            options["executionSegment"] = segment
            if sequence:
                options["executionSegmentSequence"] = sequence
        yield options


def main():
    cases = json.loads((HERE / "cases.json").read_text())
    rows = []
    for options in cases["requirements"] + list(generated(180, seed=8)):
        said = inspect(options)
        row = {"options": options, "totalDuration": said["totalDuration"], "maxVUs": said["maxVUs"]}
        ours = cases["ours"].get(json.dumps(options))
        rows.append({**row, "ours": ours} if ours else row)
    write("requirements.jsonl", rows)

    rows = []
    for options in cases["options"]:
        said = inspect(options)
        del said["totalDuration"], said["maxVUs"]
        rows.append({"options": options, "inspect": said})
    write("options.jsonl", rows)

    rows = []
    for options in cases["descriptions"]:
        said = k6(["run", "--address="], options, "exec.test.abort()")
        share = re.search(r"scenarios: \((.*?)\)", said).group(1)
        lines = [line.strip()[2:] for line in said.splitlines() if line.startswith(" " * 14 + "* ")]
        rows.append({"options": options, "share": share, "lines": lines})
    write("descriptions.jsonl", rows)

    rows = []
    for options in cases["iterations"]:
        body = "console.log('ITERATION ' + exec.scenario.iterationInTest + ' ' + exec.vu.idInTest)"
        said = re.findall(r"ITERATION (\d+) (\d+)", k6(["run", "--address="], options, body))
        rows.append({
            "options": options,
            "iterationsInTest": sorted(int(number) for number, _ in said),
            "vuIdsInTest": sorted({int(vu) for _, vu in said}),
        })
    write("iterations.jsonl", rows)


main()
