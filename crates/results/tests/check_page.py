#!/usr/bin/env python3
"""Runs every block of code of docs/readers.md, in the order of the page.

    check_page.py PAGE HAGGLE

`console` blocks are run with the haggle of the second argument, `python` blocks by this Python, `sql` blocks by
DuckDB, and `r` blocks by Rscript where there is one. Of the section "One run" each block must print
`mean_waiting_time` of summary.json. Exits with 1 and says which block fails.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

RUN = Path("runs/quickstart/summary.json")


def blocks(page):
    """(section, language, text) of each block of code."""
    section, language, lines = "", None, []
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            if language is not None:
                yield section, language, "\n".join(lines)
            language, lines = (line[3:].strip() or "text", []) if language is None else (None, [])
        elif language is not None:
            lines.append(line)
        elif line.startswith("#"):
            section = line.lstrip("# ")


def execute(language, text, folder, haggle):
    """What a block prints."""
    if language == "console":
        path = f"{haggle.parent}{os.pathsep}{os.environ['PATH']}"
        command, environment = ["bash", "-ec", text], {**os.environ, "PATH": path}
    elif language == "python":
        command, environment = [sys.executable, "-c", text], None
    elif language == "r":
        command, environment = ["Rscript", "-e", text], None
    else:
        rows = duckdb.sql(text).fetchall()
        return "\n".join(" ".join(map(str, row)) for row in rows)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"check_page: this fails:\n{text}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: check_page.py PAGE HAGGLE")
    page, haggle = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    ran = dict.fromkeys(["console", "python", "sql", "r"], 0)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for section, language, text in blocks(page):
            if language == "r" and not shutil.which("Rscript"):
                print("left out: R, which is not here")
                continue
            printed = execute(language, text, folder, haggle)
            ran[language] += 1
            if language == "console" or section != "One run":
                continue
            told = json.loads(RUN.read_text())["mean_waiting_time"]
            numbers = [float(it) for it in re.findall(r"\d+\.\d+", printed)]
            # R and Polars print some digits only.
            if not any(math.isclose(it, told, rel_tol=1e-4) for it in numbers):
                sys.exit(f"check_page: {told} s is expected of this:\n{text}\nand it prints\n{printed}")
        if not (ran["python"] and ran["sql"]):
            sys.exit("check_page: the page has no code")
    print(f"{page.name}: {', '.join(f'{count} {name}' for name, count in ran.items())} blocks")


if __name__ == "__main__":
    main()
