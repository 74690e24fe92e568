#!/usr/bin/env python3
"""Times whole commands: log read, simulated, results written.

    cargo build --release
    HAGGLE_TRACES=folder/with/logs benches/commands.py [--runs 5] [--only NAME] [--against OTHER]

Prints a row a case: processor seconds (user + system: minimum, median and
maximum over the runs after one warm-up), peak resident memory, and the digest
of the results, so that a faster wrong answer shows. Cases whose log is not
there are left out. With --against, runs of another binary alternate with these,
so that what else the machine does meets both; a second row has its times and
how many times as long it took (median of the pairs).
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HAGGLE = ROOT / "target/release/haggle"
TRACES = os.environ.get("HAGGLE_TRACES")

CTC = "CTC-SP2-1996-3.1-cln.swf.gz"
SDSC = "SDSC-SP2-1998-4.2-cln.swf.gz"
LUBLIN = "lublin_256.swf.gz"
CONSERVATIVE = ["--policy", "conservative", "--compression", "job-by-job"]
BY_START = ["--policy", "conservative", "--compression", "by-start"]
EASY = ["--policy", "easy"]

# A hundred thousand jobs submitted at once: a queue as deep as it can be.
DEEP = """
[[workload]]
name = "burst"
model = "lublin-feitelson"
lublin = { jobs = 100000, processors = 256 }
[[workload.step]]
kind = "scale-gaps"
factor = 0.000000001
[[provider]]
name = "machine"
processors = 256
policy = "conservative"
[[user]]
name = "users"
workload = "burst"
submits-to = "machine"
[results]
messages = "counts"
"""

# A million jobs over a thousand providers.
MANY = """
[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 1000000, processors = 128, job-types = "one" }
[[workload.step]]
kind = "scale-gaps"
factor = 0.003
[[provider]]
name = "site"
processors = 128
policy = "conservative"
count = 1000
[[metascheduler]]
name = "broker"
placement = "random"
[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"
[results]
messages = "counts"
"""

# A hundred thousand resources that fail, for a week.
GRID = """
[scenario]
horizon = "7d"
[[workload]]
name = "jobs"
model = "independent-jobs"
data = { input = "10 MB", output = "10 MB" }
[workload.independent-jobs]
jobs = 1000000
between = { law = "exponential", mean = "0.6s" }
run = { law = "exponential", mean = "2.5h" }
[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"
[grid]
policy = "fcfs"
period = "10min"
information = { mode = "delayed", delay = "5min" }
[[grid.site]]
name = "site"
resources = 100000
[[failures]]
of = ["site"]
law = { up = { law = "weibull", shape = 0.75, scale = "5h" }, down = { law = "exponential", mean = "40min" } }
[results]
messages = "counts"
"""


def replay(log, processors, arguments):
    def command(haggle, out):
        if not TRACES or not (Path(TRACES) / log).exists():
            return None
        path = str(Path(TRACES) / log)
        start = [haggle, "replay", path, "--processors", str(processors), "--json", "--quiet"]
        start += ["--rules", "canonical"]
        return [*start, *arguments, "-o", str(out / "results")]

    return command


def scenario(text):
    def command(haggle, out):
        (out / "scenario.toml").write_text(text)
        start = [haggle, "run", str(out / "scenario.toml"), "--json", "--quiet"]
        return [*start, "--no-figures", "-o", str(out / "results")]

    return command


def one_of(sweep, **settings):
    """The first run of a sweep with these settings."""

    def command(haggle, out):
        path = ROOT / "scenarios" / sweep
        if "$HAGGLE_TRACES" in path.read_text() and not TRACES:
            return None
        listed = subprocess.run([haggle, "show", "--runs", path], capture_output=True, text=True)
        rows = list(csv.DictReader(listed.stdout.splitlines(), delimiter="\t"))
        number = next(row["run"] for row in rows if settings.items() <= row.items())
        show = [haggle, "show", "--run", number, path]
        return scenario(subprocess.run(show, capture_output=True, text=True).stdout)(haggle, out)

    return command


CASES = {
    "sdsc10k easy": replay(SDSC, 128, [*EASY, "--first", "10000"]),
    "sdsc10k conservative": replay(SDSC, 128, [*CONSERVATIVE, "--first", "10000"]),
    "ctc easy": replay(CTC, 338, EASY),
    "ctc conservative, job by job": replay(CTC, 338, CONSERVATIVE),
    "ctc conservative, by start": replay(CTC, 338, BY_START),
    "lublin easy": replay(LUBLIN, 256, [*EASY, "--estimates", "exact"]),
    "lublin conservative": replay(LUBLIN, 256, [*CONSERVATIVE, "--estimates", "exact"]),
    "100,000 jobs at once": scenario(DEEP),
    "1,000 providers, 1,000,000 jobs": scenario(MANY),
    "offers, 60 days": one_of(
        "netto-offers/policies.toml", deadlines="schema-1", policy="offers-plb"
    ),
    "rescheduling, 15 days": one_of(
        "netto-rescheduling/workloads.toml",
        workload="all",
        policy="uncoordinated",
        overestimation="100",
    ),
    "grid, a week": one_of(
        "chtepen-faults/checkpointing.toml", rule="mean-failure", interval="30min"
    ),
    "grid, checkpoints every 3 s": one_of(
        "chtepen-faults/checkpointing.toml", rule="periodic", interval="3s"
    ),
    # It took 15 min to 3 h on the machines of its day (Chtepen 2011, chapter 3).
    "grid, five weeks, 200,000 jobs": one_of(
        "chtepen-desktop/tornado.toml", users="5", failures="100"
    ),
    "grid, 100,000 resources": scenario(GRID),
}


def timed(command):
    """Processor seconds, peak MiB and digest of one run."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 1)
        os.execv(command[0], [str(part) for part in command])
    os.close(writing)
    with os.fdopen(reading) as output:
        text = output.read()
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    result = json.loads(text)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, result["digest"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--only", default="", help="cases with this in their names")
    arguments.add_argument("--haggle", type=Path, default=HAGGLE, help="what is timed")
    arguments.add_argument("--against", type=Path, help="another one, timed in turns with it")
    arguments = arguments.parse_args()
    binaries = [arguments.haggle]
    if arguments.against:
        binaries.append(arguments.against)
    print(f"{'case':<34}{'min s':>8}{'median':>8}{'max':>8}{'MiB':>8}  digest")
    for name, case in CASES.items():
        if arguments.only not in name:
            continue
        rows = [[] for _ in binaries]
        for run in range(arguments.runs + 1):
            for binary, row in zip(binaries, rows):
                with tempfile.TemporaryDirectory() as folder:
                    command = case(binary, Path(folder))
                    if command is not None and (sample := timed(command)) and run > 0:
                        row.append(sample)
        for row in rows:
            if not row:
                continue
            times = [seconds for seconds, _, _ in row]
            text = f"{name:<34}" if row is rows[0] else f"{'  the other':<34}"
            text += f"{min(times):>8.2f}{statistics.median(times):>8.2f}{max(times):>8.2f}"
            text += f"{max(peak for _, peak, _ in row):>8.0f}  "
            text += " ".join(sorted({digest[:12] for _, _, digest in row}))
            if row is not rows[0]:
                pairs = [theirs[0] / ours[0] for ours, theirs in zip(*rows)]
                text += f"  {statistics.median(pairs):.2f} times"
            print(text, flush=True)


if __name__ == "__main__":
    main()
