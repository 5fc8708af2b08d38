"""Rows of measurements that benchmarks print and append to a JSON file."""

import datetime
import json
import os
import platform
import sys


def begin_row(command=None):
    """Where, when and how a row was measured."""
    return {"machine": f"{platform.node()}, {len(os.sched_getaffinity(0))} cores",
            "date": datetime.date.today().isoformat(), "command": command or " ".join(sys.argv)}


def put_row(row, path=None):
    """Prints the row, and appends it to the file `path` if one is given."""
    print(json.dumps(row), flush=True)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
