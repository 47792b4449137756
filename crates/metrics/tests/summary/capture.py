#!/usr/bin/env python3
"""Makes the reference outputs in this folder with a real k6 (v1.8.1, the last with --summary-mode=legacy).

    mkdir www && echo hello > www/index.html
    python3 -m http.server 18101 --bind 127.0.0.1 --directory www &
    ./capture.py            # needs k6 and script(1) on the PATH

Each case NAME.MODE gives NAME.MODE.txt (what k6 printed) and NAME.MODE.json (the samples of that very run and what
handleSummary() was given), so that the tests can render the same numbers and compare byte for byte.
Cases with colour run k6 under script(1), as k6 only colours terminals.
"""
import json, os, re, subprocess, sys, tempfile

CASES = [
    # name, mode, colour, further flags
    ("mixed", "compact", False, []),
    ("mixed", "full", False, []),
    ("mixed", "legacy", False, []),
    ("mixed", "full", True, []),
    ("mixed", "legacy", True, []),
    ("numbers", "compact", False, []),
    ("numbers", "legacy", False, ["--summary-time-unit=us"]),
    ("numbers", "full", False, ["--summary-time-unit=s"]),
    ("scenarios", "compact", False, []),
    ("scenarios", "full", False, []),
    ("scenarios", "legacy", False, []),
]
KEPT_TAGS = ["group", "scenario", "check", "expected_response", "x"]


def run(name, mode, colour, flags):
    with tempfile.TemporaryDirectory() as tmp:
        raw, log, export = (os.path.join(tmp, f) for f in ("raw.json", "log.txt", "export.json"))
        command = ["k6", "run", "-q", "--no-usage-report", f"--summary-mode={mode}", f"--log-output=file={log}", "--log-format=json",
                   f"--out=json={raw}", f"--summary-export={export}", *flags, f"{name}.js"]
        if colour:
            out = subprocess.run(["script", "-qec", " ".join(command), "/dev/null"], capture_output=True).stdout.decode()
            # What k6's terminal writer adds to each line end, not the summary itself.
            out = out.replace("\x1b[0K", "").replace("\r\n", "\n")
        else:
            out = subprocess.run(command, capture_output=True).stdout.decode()
        data = None
        for line in open(log):
            message = json.loads(line).get("msg", "")
            if message.startswith("DATA="):
                data = json.loads(message[5:])
        metrics, series = {}, {}
        for line in open(raw):
            row = json.loads(line)
            if row["type"] == "Metric":
                metrics[row["metric"]] = [row["data"]["type"], row["data"]["contains"]]
            else:
                tags = {k: v for k, v in (row["data"]["tags"] or {}).items() if k in KEPT_TAGS}
                key = (row["metric"], json.dumps(tags, ensure_ascii=False))
                series.setdefault(key, []).append(row["data"]["value"])
        exported = json.load(open(export))
        return out, {"command": " ".join(["k6", "run", "-q", f"--summary-mode={mode}", *flags, f"{name}.js"]), "mode": mode,
                     "colour": colour, "metrics": metrics, "data": data, "export": exported,
                     "series": [[metric, json.loads(tags), compress(values)] for (metric, tags), values in series.items()]}


def compress(values):
    """Separated by spaces, runs of equal values as VALUE*TIMES; text, because not every JSON reader keeps all digits."""
    runs = []
    for value in values:
        if runs and runs[-1][0] == value:
            runs[-1][1] += 1
        else:
            runs.append([value, 1])
    return " ".join(repr(value) if times == 1 else f"{value!r}*{times}" for value, times in runs)


def write(path, reference):
    """One line a series and a top-level value: diffs stay readable."""
    with open(path, "w") as file:
        dump = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        series = reference.pop("series")
        file.write("{" + ",\n".join(f"{dump(key)}:{dump(value)}" for key, value in reference.items()))
        file.write(',\n"series":[\n' + ",\n".join(dump(row) for row in series) + "\n]}\n")


for name, mode, colour, flags in CASES:
    case = f"{name}.{mode}" + (".ansi" if colour else "")
    if len(sys.argv) > 1 and case not in sys.argv[1:]:
        continue
    out, reference = run(name, mode, colour, flags)
    open(f"{case}.txt", "w").write(out)
    write(f"{case}.json", reference)
    print(case, len(out), "bytes")
