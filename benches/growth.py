#!/usr/bin/env python3
"""How the cost of jobs on several providers grows: with jobs that wait, with providers, with metaschedulers.

    cargo build --release
    benches/growth.py [--only jobs|providers|metaschedulers] [--limit 600] [--haggle BINARY]

Prints a table in Markdown for each: processor seconds (user + system) of one whole run, peak memory in MiB,
and what the run says of its moves or messages. A run that takes longer than --limit is stopped, and the table
says so. The tables are in docs/transactions.md.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
from pathlib import Path

HAGGLE = Path(__file__).resolve().parent.parent / "target/release/haggle"

PROVIDER = """
[[provider]]
name = "{name}"
count = {count}
processors = {processors}
policy = "conservative"
disclosure = "slots"
"""

BROKER = """
[[metascheduler]]
name = "{name}"
coallocation = {{ {coallocation} }}
"""

MESSAGES = """
[results]
messages = "counts"
"""


def users(name, workload, to):
    return f'[[user]]\nname = "{name}"\nworkload = "{workload}"\nsubmits-to = "{to}"\n'


def spread(policy, count, processors, requested, run):
    """Jobs that want several providers, 60 s apart."""
    if not policy:
        return ""
    text = BROKER.format(name="broker", coallocation=f'policy = "{policy}"')
    text += '[[workload]]\nname = "wide"\nmodel = "independent-jobs"\n'
    text += f'[workload.independent-jobs]\njobs = {count}\nbetween = {{ law = "constant", value = "60s" }}\n'
    text += f'processors = {{ law = "constant", value = {processors} }}\n'
    text += f'run = {{ law = "constant", value = "{run}" }}\n'
    text += f'[[workload.step]]\nkind = "estimates"\nrule = "factor:{requested}"\n'
    return text + users("wide-users", "wide", "broker")


def own(name, jobs, processors, gaps, to):
    text = f'[[workload]]\nname = "{name}"\nmodel = "lublin-feitelson"\n'
    text += f"lublin = {{ jobs = {jobs}, processors = {processors} }}\n"
    text += f'[[workload.step]]\nkind = "scale-gaps"\nfactor = {gaps}\n'
    text += '[[workload.step]]\nkind = "estimates"\nrule = "factor:2"\n'
    return text + users(f"{name}-users", name, to)


def waiting(jobs, policy):
    """Three providers of 256 processors with a third of `jobs` each, which come at once and ask for twice what they run,
    and 100 jobs that want 384 processors for an hour."""
    text = "".join(PROVIDER.format(name=f"p{n}", count=1, processors=256) for n in range(3))
    text += "".join(own(f"j{n}", jobs // 3, 256, "0.000000001", f"p{n}") for n in range(3))
    return text + spread(policy, 100, 384, 1, "1h") + MESSAGES


def providers(count, policy):
    """Sites of 16 processors, 40 jobs a site that go to one of them by chance, and 100 jobs that want 64."""
    text = PROVIDER.format(name="site", count=count, processors=16)
    text += '[[metascheduler]]\nname = "chance"\nplacement = "random"\n'
    text += own("own", 40 * count, 16, 1 / count, "chance")
    return text + spread(policy, 100, 64, 2, "1h") + MESSAGES


def metaschedulers(count, protocol):
    """As many metaschedulers that want all of the same four providers at once, for a job of 60 s each."""
    text = PROVIDER.format(name="site", count=4, processors=16)
    coallocation = f'policy = "rigid", protocol = "{protocol}", trials = 1000'
    for n in range(count):
        text += BROKER.format(name=f"m{n}", coallocation=coallocation)
        text += f'[[workload]]\nname = "w{n}"\njobs = [{{ submit = "0s", processors = 64, run = "60s", requested = "60s" }}]\n'
        text += users(f"u{n}", f"w{n}", f"m{n}")
    return text + '[network]\nlatency = "50ms"\n' + MESSAGES


def measured(haggle, text, limit):
    """Processor seconds and MiB of a run, and its summary; None if it was stopped."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "scenario.toml"
        scenario.write_text(text)
        command = [haggle, "run", scenario, "--json", "--quiet", "--no-figures", "-o", Path(folder) / "out"]
        with open(Path(folder) / "said", "w+") as said:
            pid = os.fork()
            if pid == 0:
                resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
                os.dup2(said.fileno(), 1)
                os.execv(command[0], [str(part) for part in command])
            _, status, usage = os.wait4(pid, 0)
            if os.WIFSIGNALED(status):
                return None
            if status != 0:
                raise SystemExit(f"failed:\n{text}")
            said.seek(0)
            summary = json.load(said)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, summary


def cell(sample, limit, *facts):
    if sample is None:
        return f"longer than {limit}"
    seconds, peak, summary = sample
    parts = [f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}", f"{peak:.0f} MiB"]
    return ", ".join(parts + [fact(summary) for fact in facts])


def table(head, sizes, columns, arguments):
    print(f"\n| {head} | " + " | ".join(name for name, _ in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for size in sizes:
        cells = [one(size) for _, one in columns]
        print(f"| {size:,} | " + " | ".join(cells) + " |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", choices=["jobs", "providers", "metaschedulers"])
    arguments.add_argument("--limit", type=int, default=600, help="processor seconds of a run")
    arguments.add_argument("--most", type=int, default=100_000, help="leave out larger sizes")
    arguments.add_argument("--haggle", type=Path, default=HAGGLE, help="what is timed")
    arguments = arguments.parse_args()

    def of(world, what, *facts):
        def one(size):
            return cell(measured(arguments.haggle, world(size, what), arguments.limit), arguments.limit, *facts)

        return one

    def moves(summary):
        return f"{summary['all']['coallocated']['moves']:.1f} moves a job"

    def told(summary):
        found = summary["transactions"]
        return f"{found['messages'] / found['jobs']:,.0f} messages a job, {found['success_percent']:.0f} %"

    policies = [("without such jobs", "", ()), ("`rigid`", "rigid", ()), ("`shift-remap`", "shift-remap", (moves,))]
    protocols = ["ordered", "negotiation", "two-phase", "one-phase", "probing"]
    tables = {
        "jobs": ("jobs that wait", [1_000, 10_000, 30_000, 100_000], waiting, policies),
        "providers": ("providers", [10, 100, 1_000], providers, policies),
        "metaschedulers": (
            "metaschedulers",
            [10, 100, 1_000],
            metaschedulers,
            [(f"`{it}`", it, (told,)) for it in protocols],
        ),
    }
    for name, (head, sizes, world, columns) in tables.items():
        if arguments.only in (None, name):
            sizes = [size for size in sizes if size <= arguments.most]
            columns = [(title, of(world, what, *facts)) for title, what, facts in columns]
            table(head, sizes, columns, arguments)


if __name__ == "__main__":
    main()
