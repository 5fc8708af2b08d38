"""Runs a step beside one device by coll-run --check, and reads what its report says. The tables use it."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

# A program of all tools (`coll run`) where COLL names one, else coll-run.
COLL_RUN = [os.environ["COLL"], "run"] if os.environ.get("COLL") else ["coll-run"]


def run(data, flags, backend="threads", steps=2, timeout=None):
    """(data of coll-run's report, None), or (None, why the step was refused or what failed)."""
    meta = json.loads((data / "meta.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        page = pathlib.Path(scratch) / "report.html"
        command = [*COLL_RUN, data / "step.mlir", f"--state-args={meta['state_args']}", "--check", "--quiet",
                   f"--report={page}", *flags]
        has_data = (data / "reference.npz").exists()
        command += [f"--data={data / 'reference.npz'}", f"--steps={steps}"] if has_data else ["--steps=1"]
        command += ["--backend=net", "--processes"] if backend == "net" else []
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  timeout=timeout)
        except subprocess.TimeoutExpired:
            return None, f"FAILED: not done after {timeout} s"
        if done.returncode == 0:
            text = page.read_text(encoding="utf-8")
            return json.loads(re.search(r'id="coll-data">(.*?)</script>', text, re.DOTALL).group(1)), None
    return None, describe_failure(done)


def describe_failure(done):
    """One line; a run that was compared is no refusal."""
    errors = re.findall(r"error: (.*)", done.stderr)
    # A process whose peer has failed says only that.
    error = next((text for text in errors if "distributing the step failed" not in text), errors[0] if errors else None)
    place = re.search(r'"?([\w/.<>-]+\.py)"?:(\d+)', done.stderr)
    if done.returncode != 1 or not error or "against one" in done.stdout:
        lines = (done.stdout + done.stderr).strip().splitlines()
        wrong = [line for line in lines if "FAIL" in line or "error" in line] or lines[-1:]
        return f"FAILED: exit status {done.returncode}: {' / '.join(line.strip() for line in wrong[:3])}"
    return f"refused: {error}" + (f" ({place.group(1)}:{place.group(2)})" if place else "")


def summarize(data):
    """Collectives and transfers, KiB sent and KiB of memory, of a rank on average or at most; the difference."""
    counts, sent, ranks = collections.Counter(), 0.0, len(data["ranks"])
    for row in data["collectives"]:
        if row["function"] == "step":
            counts[row["kind"]] += row["calls_per_step"] * row["ranks"] / ranks
            sent += (row["kind"] != "recv") * row["bytes_per_step"] * row["ranks"] / ranks
    kinds = ", ".join(f"{count:g} {kind}" for kind, count in sorted(counts.items()))
    memory = max(rank["memory_bytes"]["total"] for rank in data["ranks"])
    difference = max((tensor["relative"] or 0) for check in data["checks"] for tensor in check["tensors"])
    return kinds, f"{sent / 1024:.1f}", f"{memory / 1024:.1f}", f"{difference:.1e}"


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True,
                          cwd=pathlib.Path(__file__).parent).stdout.strip()
