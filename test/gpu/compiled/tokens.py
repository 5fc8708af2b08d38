"""Steps with an exchange of tokens (coll.dispatch, coll.combine) on a GPU, beside the CPU.

    tokens.py FOLDER_FOR_FILES

The training step of test/run/moe_training.mlir is compared with its dense form, the layer of
examples/05_mixture_of_experts.mlir with itself on the CPU. Rows of f32, bf16 and f16 that ranks on one GPU send and
add up are compared with those of the CPU, whose every result has to be equal: by the GPU, in graphs and without, and
through the host.
"""

import itertools
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


# Experts from random integers; some tokens have only one. Experts multiply rows by the tokens' weights.
EXCHANGE = """
!tokens = tensor<{TOKENS}x64x{TYPE}>
!choice = tensor<{TOKENS}x2xi32>
!weights = tensor<{TOKENS}x2xf32>
!rows = tensor<{CAPACITY}x64x{TYPE}>
!row_experts = tensor<{CAPACITY}x2xi32>
!row_weights = tensor<{CAPACITY}x2xf32>
!route = !coll.route<{TOKENS} topk 2 to {CAPACITY} over @m["ep"]>

coll.mesh @m ["ep" = {RANKS}]

#split = #coll.sharding<@m, [["ep"], []]>
#numbers = #coll.sharding<@m, [["ep"]]>
#row = affine_map<(t, k) -> (t)>
#both = affine_map<(t, k) -> (t, k)>

func.func @step(
    %x: !tokens {{coll.role = "state", coll.name = "x", coll.sharding = #split, coll.global_type = tensor<{CAPACITY}x64x{TYPE}>}},
    %random: tensor<{TOKENS}xi32> {{coll.role = "batch", coll.name = "random", coll.sharding = #numbers, coll.global_type = tensor<{CAPACITY}xi32>}},
    %weights: !weights {{coll.role = "batch", coll.name = "weights", coll.sharding = #split, coll.global_type = tensor<{CAPACITY}x2xf32>}})
    -> (!tokens {{coll.name = "x", coll.sharding = #split, coll.global_type = tensor<{CAPACITY}x64x{TYPE}>}},
        !rows {{coll.name = "rows", coll.sharding = #split, coll.global_type = tensor<{ALL}x64x{TYPE}>}},
        !row_experts {{coll.name = "row_experts", coll.sharding = #split, coll.global_type = tensor<{ALL}x2xi32>}},
        tensor<3xi32> {{coll.name = "load", coll.sharding = #numbers, coll.global_type = tensor<{EXPERTS}xi32>}}) {{
  %experts = arith.constant {EXPERTS} : i32
  %seven = arith.constant 7 : i32
  %none = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  %empty_choice = tensor.empty() : !choice
  %choice = linalg.generic {{indexing_maps = [#row, #both], iterator_types = ["parallel", "parallel"]}}
      ins(%random : tensor<{TOKENS}xi32>) outs(%empty_choice : !choice) {{
  ^bb0(%in: i32, %out: i32):
    %k = linalg.index 1 : index
    %place = arith.index_cast %k : index to i32
    %first = arith.remui %in, %experts : i32
    %moved = arith.addi %first, %place : i32
    %expert = arith.remui %moved, %experts : i32
    %rest = arith.remui %in, %seven : i32
    %left = arith.subi %rest, %place : i32
    %is_dropped = arith.cmpi eq, %left, %zero : i32
    %chosen = arith.select %is_dropped, %none, %expert : i32
    linalg.yield %chosen : i32
  }} -> !choice
  %rows, %row_experts, %row_weights, %load, %route =
      coll.dispatch %x to %choice weights %weights local_experts 3 capacity {CAPACITY} over @m["ep"]
      : !tokens, !choice, !weights
  %weight_of = tensor.extract_slice %row_weights[0, 0] [{CAPACITY}, 1] [1, 1] : !row_weights to tensor<{CAPACITY}xf32>
  %empty_rows = tensor.empty() : !rows
  %made = linalg.generic {{indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}}
      ins(%rows, %weight_of : !rows, tensor<{CAPACITY}xf32>) outs(%empty_rows : !rows) {{
  ^bb0(%in: {TYPE}, %weight: f32, %out: {TYPE}):
    {PRODUCT}
    linalg.yield %p : {TYPE}
  }} -> !rows
  %y = coll.combine %made along %route : !rows, !route
  return %y, %rows, %row_experts, %load : !tokens, !rows, !row_experts, tensor<3xi32>
}}
"""
PRODUCTS = {"f32": "%p = arith.mulf %in, %weight : f32"}
PRODUCTS |= {narrow: f"%wide = arith.extf %in : {narrow} to f32\n    %product = arith.mulf %wide, %weight : f32\n"
                     f"    %p = arith.truncf %product : f32 to {narrow}" for narrow in ("bf16", "f16")}


def exchange(ranks, dtype, tokens=37):
    """A step that sends rows of this type, and adds them up again."""
    capacity = ranks * tokens
    return EXCHANGE.format(TOKENS=tokens, TYPE=dtype, CAPACITY=capacity, RANKS=ranks, ALL=ranks * capacity,
                           EXPERTS=3 * ranks, PRODUCT=PRODUCTS[dtype])


def run_exchanges(folder):
    """Returns what failed."""
    failures = []
    for ranks, dtype in itertools.product((1, 2, 4), PRODUCTS):
        name = f"exchange_{ranks}_{dtype}"
        (folder / f"{name}.mlir").write_text(exchange(ranks, dtype))
        for device in ("gpu", "cpu"):
            code, output = run([*tool("compile"), folder / f"{name}.mlir", f"--device={device}", "-o",
                                folder / f"{name}_{device}.so"])
            failures += [output] if code else []
        for how, flags, variables in (("graph", [], {}), ("eager", ["--no-graph"], {}),
                                      ("host", [], {"COLL_GPU_TOKENS": 0})):
            code, output = run([*runtime_tool("exec"), folder / f"{name}_gpu.so", "--steps=6", *flags,
                                f"--compare={folder / f'{name}_cpu.so'}"], 60, COLL_LOG="info",
                               CUDA_DEVICE_MAX_CONNECTIONS=32, CUDA_MODULE_LOADING="EAGER", **variables)
            by_gpu = "are exchanged by the GPUs" in output
            lines = [line for line in output.splitlines() if "within" in line] or output.splitlines()[-1:]
            print(f"{name:20} {how:6} exit code {code}: {lines[0] if lines else ''}", flush=True)
            if code or by_gpu != (how != "host") or not re.search("difference 0$", output, re.M):
                failures.append(f"{name}, {how}: {output[-1500:]}")
    return failures


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
    finish(failures + run_exchanges(folder))


if __name__ == "__main__":
    main()
