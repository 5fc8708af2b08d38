"""What the scripts of this folder share: the tools, the steps, and many runs side by side."""

import concurrent.futures
import json
import os
import pathlib
import re
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
STEPS = ROOT / "test/data/jax"
MOST = 10  # processes at the same time: the contexts of more fill the memory of a GPU
SMALL = ["mlp_digits_momentum", "cnn_digits_adam", "gpt_tiny_adamw", "attention_lion"]
ROW = re.compile(r"^  (.*?)\s+(\S+)\s+(\S+)\s+(\S+)(?:\s+(\S+))?  (FAIL|ok|ok by noise|ok by gradient)(: .*)?$")


def tool(name):
    """The command of a tool: part of the static file that COLL names, or of a build."""
    if "COLL" in os.environ:
        return [os.environ["COLL"], name]
    for folder in ("build-release", "build"):
        path = ROOT / folder / "bin"
        if (path / f"coll-{name}").exists():
            return [str(path / f"coll-{name}")]
    print("no compiler: COLL names the static file coll, or ./dev build makes coll-run")
    sys.exit(77)


def runtime_tool(name):
    """A tool of the build with the runtime's own kernels for GPUs."""
    return [str(pathlib.Path(os.environ["COLL_BUILD"]) / "bin" / f"coll-{name}")]


def folders():
    """The exported steps whose results JAX has computed."""
    return sorted(path.parent for path in STEPS.glob("*/reference.npz"))


def meta_of(folder):
    return json.loads((folder / "meta.json").read_text())


def run(command, seconds=300, **variables):
    """Ends a command that takes too long; returns its exit code and what it has printed."""
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                              env=os.environ | {k: str(v) for k, v in variables.items()}, check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace") + f"no end after {seconds} s\n"


def start_ranks(command, ranks, folder, **variables):
    """One process for each rank of backend net on this machine; rank r writes FOLDER/rank_r.log."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"COLL_WORLD_SIZE": ranks, "COLL_BOOTSTRAP": f"127.0.0.1:{port}", "COLL_LOCAL_RANK": 0,
              "COLL_SECRET": "a secret of the test's own", **variables}
    processes = []
    for rank in range(ranks):
        environment = os.environ | {k: str(v) for k, v in (shared | {"COLL_RANK": rank}).items()}
        with open(folder / f"rank_{rank}.log", "w", encoding="utf-8") as log:
            processes.append(subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log, env=environment))
    return processes


def side_by_side(function, cases, at_once=None):
    """`function` of each case, in order, as far as processors and memory allow at the same time."""
    with concurrent.futures.ThreadPoolExecutor(at_once or min(os.cpu_count(), MOST)) as pool:
        yield from pool.map(function, cases)


def rows_of(output):
    """The rows of coll-run's tables: name, largest difference, largest value, relative, verdict."""
    for line in output.splitlines():
        if match := ROW.match(line):
            name, delta, largest, relative, _, verdict, note = match.groups()
            yield name, float(delta), float(largest), float(relative), verdict, note or ""


def finish(failures):
    """Prints what failed and ends the process with the exit code that ./dev gpu-test expects."""
    for failure in failures:
        print("FAILED", failure)
    sys.exit(1 if failures else 0)
