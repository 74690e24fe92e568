#!/usr/bin/env python3
"""Checks that the tables of a run's folder can be read by the tools people use.

    pip install pandas polars duckdb pyarrow evalys "matplotlib<4"
    check_readers.py FOLDER

pandas, Polars, DuckDB and pyarrow must find the same number of rows and the same
columns in every Parquet file; where a CSV file lies beside it, the same in that.
evalys must load jobs.csv and attempts.csv and draw them. Exits with 1 and says what differs.
"""

import sys
import tempfile
from pathlib import Path

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
    require(files, f"{folder} has no Parquet file")
    for path in files:
        shape = check_parquet(path)
        check_csv_beside(path, shape)
        if path.stem == "jobs":
            require(shape[1][:17] == BATSIM, f"{path} does not start with Batsim's columns")
        print(f"{path.name}: {shape[0]} rows, {len(shape[1])} columns")
    # Jobs of a grid hold no processors of their own; their attempts have those of resources.
    drawn = ["attempts.csv"] if (folder / "checkpoints.parquet").exists() else ["jobs.csv", "attempts.csv"]
    for name in drawn:
        if (folder / name).exists():
            check_evalys(folder / name)
            print(f"{name}: loaded and drawn by evalys")


if __name__ == "__main__":
    main()
