#!/usr/bin/env python3
"""Checks that the tables of a run's folder, or of a sweep's, can be read by the tools people use.

    pip install pandas polars duckdb pyarrow evalys "matplotlib<4"
    check_readers.py FOLDER

pandas, Polars, DuckDB and pyarrow must find the same number of rows and the same
columns in every Parquet file; where a CSV file lies beside it, the same in that.
evalys must load jobs.csv and attempts.csv and draw them. The mean waiting time of the jobs that count must be that of
summary.json. In the folder of a sweep each reader must find the axes, and seed, as columns with the values that
the names of folders have. Exits with 1 and says what differs.
"""

import json
import math
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

import duckdb
import pandas
import polars
import pyarrow.parquet

BATSIM = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,"
    "success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,"
    "stretch,allocated_resources,consumed_energy,metadata"
).split(",")


def require(condition, message):
    if not condition:
        sys.exit(f"check_readers: {message}")


def shapes(path):
    """(rows, column names) of a Parquet file as each reader sees them."""
    table = pyarrow.parquet.read_table(path)
    yield "pyarrow", (table.num_rows, table.column_names)
    frame = pandas.read_parquet(path)
    yield "pandas", (len(frame), list(frame.columns))
    frame = polars.read_parquet(path)
    yield "polars", (frame.height, frame.columns)
    relation = duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(path)])
    names = [column[0] for column in relation.description]
    yield "duckdb", (len(relation.fetchall()), names)


def check_parquet(path):
    reference = None
    for reader, shape in shapes(path):
        reference = reference or shape
        require(shape == reference, f"{path}: {reader} reads {shape}, pyarrow {reference}")
    return reference


def check_csv_beside(path, shape):
    csv = path.with_suffix(".csv")
    if not csv.exists():
        return
    frame = pandas.read_csv(csv)
    found = (len(frame), list(frame.columns))
    require(found == shape, f"{csv}: pandas reads {found}, but {path.name} has {shape}")
    # The same values, not only the same shape: text and integer guesses included.
    parquet = pandas.read_parquet(path)
    for name in frame.columns:
        if pandas.api.types.is_numeric_dtype(parquet[name]):
            left, right = frame[name].astype(float), parquet[name].astype(float)
            same = (left.isna() == right.isna()) & (left.isna() | (left == right))
        else:
            texts = [it[name].astype(object).where(it[name].notna(), "") for it in (frame, parquet)]
            same = texts[0] == texts[1]
        wrong = [row for row, equal in enumerate(same) if not equal]
        require(not wrong, f"{csv}: column {name} differs from {path.name} in rows {wrong[:5]}")


def check_summary(folder):
    """Jobs that count, less those that the horizon left unfinished, are those of the summary's means."""
    jobs = pandas.read_parquet(folder / "jobs.parquet")
    summary = json.loads((folder / "summary.json").read_text())
    counted = jobs[jobs["counted"] == 1]
    require(len(counted) == summary["nb_jobs"], f"{folder}: {len(counted)} jobs count of {summary['nb_jobs']}")
    require(len(jobs) - len(counted) == summary["jobs_cut"], f"{folder}: {summary['jobs_cut']} jobs are cut")
    found = counted[counted["outcome"] != "unfinished"]["waiting_time"].mean()
    told = summary["mean_waiting_time"]
    same = math.isnan(found) if told is None else math.isclose(found, told, rel_tol=1e-12)
    require(same, f"{folder}: mean waiting time {found} of jobs that count, {told} in summary.json")


def check_sweep(folder):
    files = sorted(str(path) for path in folder.glob("**/jobs.parquet") if "pack=" not in str(path))
    require(files, f"{folder} has no jobs.parquet")
    points = []
    for file in files:
        parts = [part.split("=", 1) for part in Path(file).relative_to(folder).parts[:-1]]
        points.append({unquote(key): unquote(value) for key, value in parts})
    rows = sum(pyarrow.parquet.read_metadata(file).num_rows for file in files)
    paths = "', '".join(file.replace("'", "''") for file in files)
    frames = {
        "pandas": pandas.read_parquet(files),
        "polars": polars.read_parquet(files, hive_partitioning=True).to_pandas(),
        "duckdb": duckdb.sql(f"SELECT * FROM read_parquet(['{paths}'], hive_partitioning = true)").df(),
    }
    for reader, frame in frames.items():
        require(len(frame) == rows, f"{folder}: {reader} reads {len(frame)} rows of {rows}")
        for axis in points[0]:
            require(axis in frame.columns, f"{folder}: {reader} has no column {axis}")
            written = {point[axis] for point in points}
            # Polars reads numbers as numbers.
            numbers = all(value.replace(".", "", 1).isdigit() for value in written)
            same = float if numbers else str
            found = {same(value) for value in frame[axis].unique()}
            require(found == {same(value) for value in written}, f"{folder}: {reader} reads {axis} as {found}")
    for file in files:
        check_summary(Path(file).parent)
    print(f"{folder}: {len(files)} runs, {rows} jobs, columns {', '.join(points[0])} in {', '.join(frames)}")


def check_evalys(csv):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot
    from evalys.jobset import JobSet

    jobs = JobSet.from_csv(str(csv))
    rows = len(pandas.read_csv(csv))
    require(len(jobs.df) == rows, f"{csv}: evalys loads {len(jobs.df)} jobs of {rows}")
    started = jobs.df["starting_time"].notna().sum()
    require(started > 0, f"{csv}: no job started, evalys cannot draw that")
    # evalys 4.0.7 documents gantt(ax=...) but refuses it, so it draws into axes of its own.
    jobs.gantt()
    figure = matplotlib.pyplot.gcf()
    drawn = sum(len(axes.patches) + len(axes.collections) for axes in figure.axes)
    require(drawn > 0, f"{csv}: evalys drew an empty Gantt chart")
    with tempfile.TemporaryDirectory() as folder:
        figure.savefig(Path(folder) / "gantt.png")


def main():
    require(len(sys.argv) == 2, "usage: check_readers.py FOLDER")
    folder = Path(sys.argv[1])
    files = sorted(folder.glob("*.parquet"))
    if not files:
        return check_sweep(folder)
    for path in files:
        shape = check_parquet(path)
        check_csv_beside(path, shape)
        if path.stem == "jobs":
            require(shape[1][:17] == BATSIM, f"{path} does not start with Batsim's columns")
        print(f"{path.name}: {shape[0]} rows, {len(shape[1])} columns")
    if (folder / "summary.json").exists():
        check_summary(folder)
    # Jobs of a grid hold no processors of their own; their attempts have those of resources.
    drawn = ["attempts.csv"] if (folder / "checkpoints.parquet").exists() else ["jobs.csv", "attempts.csv"]
    for name in drawn:
        if (folder / name).exists():
            check_evalys(folder / name)
            print(f"{name}: loaded and drawn by evalys")


if __name__ == "__main__":
    main()
