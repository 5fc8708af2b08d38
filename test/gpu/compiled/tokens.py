"""Steps with an exchange of tokens (coll.dispatch, coll.combine) on a GPU, beside the CPU.

    tokens.py FOLDER_FOR_FILES

The training step of test/run/moe_training.mlir is compared with its dense form, the layer of
examples/05_mixture_of_experts.mlir with itself on the CPU, over the backends that take the host's memory.
"""

import pathlib
import re
import shlex
import sys

from common import ROOT, finish, run, runtime_tool, tool

RUNS = ROOT / "test/run"


def training_data(folder):
    """What the RUN lines of the test make: batches and state."""
    text = (RUNS / "moe_training.mlir").read_text()
    words = " ".join(re.findall(r"^// RUN:(.*?)\\?$", text.split("// RUN: coll-run")[0], re.M))
    arrays = shlex.split(words.split("%t.npz", 1)[1])
    code, output = run([sys.executable, RUNS / "inputs/npz.py", folder / "tokens.npz", *arrays])
    if code:
        sys.exit(output)
    return f"--data={folder / 'tokens.npz'}"


def main():
    folder = pathlib.Path(sys.argv[1])
    data, dense = training_data(folder), folder / "dense.npz"
    code, output = run([*tool("run"), RUNS / "inputs/moe_training_dense.mlir", data, "--steps=10", f"--save={dense}",
                        "--quiet"])
    failures = [output] if code else []
    layer = ROOT / "examples/05_mixture_of_experts.mlir"
    for device in ("gpu", "cpu"):
        code, output = run([*tool("compile"), layer, f"--device={device}", "-o", folder / f"layer_{device}.so"])
        failures += [output] if code else []
    commands = {
        "training, threads": [*tool("run"), RUNS / "moe_training.mlir", data, "--steps=10", f"--reference={dense}",
                              "--device=gpu"],
        "layer, threads": [*tool("exec"), folder / "layer_gpu.so", "--steps=4", "--backend=threads",
                           f"--compare={folder / 'layer_cpu.so'}"],
        "layer, net": [*runtime_tool("exec"), folder / "layer_gpu.so", "--steps=4", "--backend=net",
                       f"--compare={folder / 'layer_cpu.so'}"]}
    for name, command in commands.items():
        code, output = run(command)
        lines = [line for line in output.splitlines() if "within" in line] or output.splitlines()
        print(f"{name:20} exit code {code}: {lines[-1] if lines else ''}", flush=True)
        if code:
            failures.append(f"{name}: {output[-1500:]}")
    finish(failures)


if __name__ == "__main__":
    main()
