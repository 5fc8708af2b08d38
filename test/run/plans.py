"""Compares the plans of --strategy=auto with others, by what --plan-only predicts.

    plans.py strategies FOLDER…     # no strategy written by hand is faster
    plans.py exhaustive MESH STEP.mlir…  # of small steps: no sharding of the arguments is faster
"""

import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

BY_HAND = [("dp=4", "data"), ("dp=4", "fsdp"), ("dp=4", "zero1"), ("tp=4", "tensor"),
           ("fsdp=2,tp=2", "fsdp,tensor"), ("dp=2,tp=2", "zero1,tensor"), ("dp=2,sp=2", "data,sequence")]
EXPERTS = [("ep=4", "expert"), ("dp=4", "data,expert:dp"), ("dp=4", "fsdp,expert:dp"), ("dp=2,ep=2", "data,expert"),
           ("ep=2,tp=2", "expert,tensor")]
TOLERANCE = 1.003  # times that differ by less are equal: the simpler plan is taken then


def foresee(step, *flags):
    """The report of a plan."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.json"
        subprocess.run(["coll-run", str(step), "--plan-only", f"--explain={path}", *flags],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return json.loads(path.read_text())


def predicted(report):
    return report["predicted"]["compute_us"] + report["predicted"]["communication_us"]


def compare_strategies(folder):
    """The names of strategies that are faster than the plan found."""
    meta = json.loads((folder / "meta.json").read_text())
    state = f"--state-args={meta['state_args']}"
    found = foresee(folder / "step.mlir", state, "--ranks=4", "--strategy=auto")
    print(f"{folder.name}: {predicted(found):.1f} us of {found['search']['tried']} plans, bound "
          f"{found['search']['bound_us']:.1f} us")
    faster = []
    for mesh, strategy in BY_HAND + (EXPERTS if folder.name.startswith("moe_") else []):
        other = foresee(folder / "step.mlir", state, f"--mesh={mesh}", f"--strategy={strategy}")
        if predicted(found) > predicted(other) * TOLERANCE:
            faster.append(f"{folder.name}: {strategy} on {mesh}, {predicted(other):.1f} us")
    return faster


def list_shardings(shape, axes):
    """Each axis splits one dimension, or none."""
    for choice in itertools.product(range(len(shape) + 1), repeat=len(axes)):
        dims, parts = [[] for _ in shape], [1] * len(shape)
        for (name, size), dim in zip(axes, choice):
            if dim < len(shape):
                dims[dim].append(name)
                parts[dim] *= size
        if all(part <= extent for part, extent in zip(parts, shape)):
            yield "[" + ", ".join("+".join(dim) or "-" for dim in dims) + "]"


def compare_exhaustively(step, mesh):
    """The shardings over the mesh that are faster than the plan found for it."""
    found = foresee(step, f"--mesh={mesh}", "--strategy=auto")
    axes = [(axis["name"], axis["size"]) for axis in found["mesh"]]
    arguments = [a for a in found["arguments"] if a["shape"]]
    choices = [list(list_shardings(a["shape"], axes)) for a in arguments]
    faster, tried = [], 0
    for shardings in itertools.product(*choices):
        flags = [f"--shard={a['name']}: {s}" for a, s in zip(arguments, shardings)]
        tried += 1
        if predicted(found) > predicted(foresee(step, f"--mesh={mesh}", *flags)) * TOLERANCE:
            faster.append(f"{step.name}: {flags}")
    print(f"{step.name}: {predicted(found):.2f} us, {tried} plans by hand")
    return faster


def main():
    if sys.argv[1] == "exhaustive":
        faster = [text for path in sys.argv[3:]
                  for text in compare_exhaustively(pathlib.Path(path), sys.argv[2])]
    else:
        faster = [text for path in sys.argv[2:] for text in compare_strategies(pathlib.Path(path))]
    if faster:
        sys.exit("faster than --strategy=auto: " + "; ".join(faster))


if __name__ == "__main__":
    main()
