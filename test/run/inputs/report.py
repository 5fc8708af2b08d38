"""Prints what the JSON inside a report says, and checks that its numbers fit together.

usage: report.py FILE.html
"""

import json
import re
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    return json.loads(re.search(r'id="coll-data">(.*?)</script>', page, re.DOTALL).group(1))


def near(a, b, relative=1e-6):
    return abs(a - b) <= relative * max(abs(a), abs(b), 1e-12)


def check_times(data):
    """Sums over steps, ranks and operations are sums of the same times."""
    ranks = [rank for rank in data["ranks"] if rank["known"] and rank["steps"]]
    for rank in ranks:
        assert sum(bucket[0] for bucket in rank["buckets"]) == rank["steps"]
        assert all(min(bucket) >= 0 for bucket in rank["buckets"])
        assert all(compute + blocked >= longest for _, compute, blocked, longest in rank["buckets"])
        assert rank["peak_resident_bytes"] > rank["memory_bytes"]["total"]
    for row in data["collectives"]:
        times = row.get("ns_per_call")
        assert not times or 0 <= times["min"] <= times["median"] <= times["max"]
        assert near(row["bytes_per_step"], row["bytes_per_call"] * row["calls_per_step"])
        assert 0 <= row["share_of_step"] <= 1
    if not ranks or ranks[0]["steps"] > 1000:
        return
    steps = sum(r["compute_ns_per_step"] + r["communication_ns_per_step"] for r in ranks)
    blocked = sum(r["communication_ns_per_step"] for r in ranks)
    shares = sum(row["share_of_step"] for row in data["collectives"])
    assert near(shares, blocked / steps, 1e-3), (shares, blocked / steps)


def main(path):
    data = load(path)
    run = data["run"]
    print(run["outcome"], run["ranks"], "ranks on", run["backend"])
    print("error:", run["error"])
    for note in run["notes"] + run["diagnostics"]:
        print("said:", note)
    print("steps:", data["step_ns"]["count"], "of", data["step_ns"]["planned"])
    for output in data["outputs"]:
        print("output:", output["name"], "loss" if output["is_loss"] else "", output["count"],
              "values,", output["not_finite"], "not finite,", len(output["points"]), "points, last",
              "none" if output["last"] is None else f"{output['last']:.6g}")
    for row in data["collectives"]:
        print(f"{row['function']}: {row['kind']} {row['reduction']} {row['dtype']}".rstrip(),
              f"{row['bytes_per_call']:g} B x {row['calls_per_step']:g} on {row['ranks']} ranks",
              f"{row['groups']} at {row['source']}: {row['why']}")
    for rank in data["ranks"]:
        memory = rank["memory_bytes"]
        print("rank", rank["rank"], "class", rank["class"], "known" if rank["known"] else "unknown",
              rank.get("steps"), "steps;", *(f"{name} {memory[name]}" for name in
                                             ("state", "batch", "outputs", "temporaries", "total")))
    print(len({rank.get("process") for rank in data["ranks"]}), "processes")
    for check in data["checks"]:
        print("check:", check["title"], len(check["tensors"]), "tensors,",
              sum(tensor["ok"] for tensor in check["tensors"]), "ok")
    check_times(data)
    print("numbers fit")


main(sys.argv[1]) if __name__ == "__main__" else None
