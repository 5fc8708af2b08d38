#!/usr/bin/env python3
"""Root updates of steps on GPUs as one kernel beside calls of their own; appends to roots_gpu.jsonl.

usage: bench_gpu_roots.py COLL MACHINE [--rows=FILE] [--repeat=N] [--ranks=2,4] [--wide] [STEP=FOLDER[,OPTION…] …]

COLL is the static executable. A STEP is a folder of test/data/jax, or another one with a step.mlir; without
any, the small steps, and wide layers under Adam that the script writes (--wide: those alone). Each runs with its ranks
on all GPUs of the machine, and sharing one. The forms run alternately, medians count: one kernel over backend
direct, beside reduce_scatter, kernel and all_gather over direct and over nccl (which has no ranks that share a GPU).
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "jax"
SUMMARY = re.compile(r"steps: median ([\d.]+) ms.*per rank ([\d.]+) MiB")
FORM = re.compile(r"root updates of .*? run as (one kernel|calls)")
SMALL = ["mlp_digits_momentum", "gpt_tiny_adamw_noclip", "equinox_mlp_adabelief", "gpt_lion_key_bias",
         "graph_segments_yogi"]

# One layer without bias, its squares as the loss, and Adam (without the correction of its bias).
WIDE = """
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j, k) -> (k, i)>
#out = affine_map<(i, j, k) -> (i, j)>
#column = affine_map<(i, j, k) -> (k, j)>
func.func @step(%w: tensor<NxNxf32> {coll.role = "state"}, %m: tensor<NxNxf32> {coll.role = "state"},
    %v: tensor<NxNxf32> {coll.role = "state"}, %x: tensor<64xNxf32> {coll.role = "batch"})
    -> (tensor<NxNxf32>, tensor<NxNxf32>, tensor<NxNxf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xNxf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xNxf32>) -> tensor<64xNxf32>
  %y = linalg.matmul ins(%x, %w : tensor<64xNxf32>, tensor<NxNxf32>) outs(%f : tensor<64xNxf32>) -> tensor<64xNxf32>
  %s = tensor.empty() : tensor<f32>
  %t = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%y : tensor<64xNxf32>) outs(%t : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %a : f32
    %c = arith.addf %o, %b : f32
    linalg.yield %c : f32
  } -> tensor<f32>
  %h = tensor.empty() : tensor<NxNxf32>
  %i = linalg.fill ins(%zero : f32) outs(%h : tensor<NxNxf32>) -> tensor<NxNxf32>
  %g = linalg.generic {indexing_maps = [#row, #column, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64xNxf32>, tensor<64xNxf32>) outs(%i : tensor<NxNxf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %o, %c : f32
    linalg.yield %d : f32
  } -> tensor<NxNxf32>
  %b1 = arith.constant dense<0.9> : tensor<NxNxf32>
  %c1 = arith.constant dense<0.1> : tensor<NxNxf32>
  %b2 = arith.constant dense<0.999> : tensor<NxNxf32>
  %c2 = arith.constant dense<0.001> : tensor<NxNxf32>
  %rate = arith.constant dense<1.0e-4> : tensor<NxNxf32>
  %least = arith.constant dense<1.0e-8> : tensor<NxNxf32>
  %m0 = arith.mulf %m, %b1 : tensor<NxNxf32>
  %m1 = arith.mulf %g, %c1 : tensor<NxNxf32>
  %m2 = arith.addf %m0, %m1 : tensor<NxNxf32>
  %square = arith.mulf %g, %g : tensor<NxNxf32>
  %v0 = arith.mulf %v, %b2 : tensor<NxNxf32>
  %v1 = arith.mulf %square, %c2 : tensor<NxNxf32>
  %v2 = arith.addf %v0, %v1 : tensor<NxNxf32>
  %root = math.sqrt %v2 : tensor<NxNxf32>
  %below = arith.addf %root, %least : tensor<NxNxf32>
  %change = arith.divf %m2, %below : tensor<NxNxf32>
  %scaled = arith.mulf %change, %rate : tensor<NxNxf32>
  %w2 = arith.subf %w, %scaled : tensor<NxNxf32>
  return %w2, %m2, %v2, %loss : tensor<NxNxf32>, tensor<NxNxf32>, tensor<NxNxf32>, tensor<f32>
}
"""
WIDTHS = [1024, 4096]
# Name, backend, whether one kernel is asked for.
FORMS = [("one kernel", "direct", 1), ("calls over direct", "direct", 0), ("calls over nccl", "nccl", 1)]


def compile_step(coll, source, ranks, options, library):
    subprocess.run([coll, "compile", source, "--device=gpu", f"--ranks={ranks}", *options, "-o", library], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(coll, library, form, gpus, steps):
    """(ms a step, MiB of a rank, which form ran); None: it failed."""
    _, backend, is_one = form
    done = subprocess.run([coll, "exec", library, f"--steps={steps}", f"--backend={backend}"], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | {"COLL_LOG": "info", "COLL_GPU_ROOT_UPDATE": str(is_one),
                                            "CUDA_DEVICE_MAX_CONNECTIONS": "32", "CUDA_MODULE_LOADING": "EAGER",
                                            "CUDA_VISIBLE_DEVICES": ",".join(gpus)})
    summary, ran = SUMMARY.search(done.stdout), FORM.search(done.stdout)
    if done.returncode or not summary:
        print(f"{library.name}, {form[0]}: {done.stdout[-1000:]}", file=sys.stderr)
        return None
    return float(summary.group(1)), float(summary.group(2)), ran.group(1) if ran else "not formed"


def compare(args, library, name, ranks, gpus):
    """A row of one kernel beside each other form."""
    forms = [form for form in FORMS if form[1] != "nccl" or len(gpus) >= ranks]
    times, mib, ran = {form: [] for form in forms}, {}, {}
    for _ in range(args.repeat):
        for form in forms:
            if result := measure(args.coll, library, form, gpus, args.steps):
                times[form].append(result[0])
                mib[form], ran[form] = result[1:]
    if not times[forms[0]]:
        return
    own = statistics.median(times[forms[0]])
    place = f"{ranks} ranks on one GPU" if len(gpus) == 1 else f"{ranks} ranks, each on a GPU"
    for form in forms[1:]:
        if not times[form]:
            continue
        other = statistics.median(times[form])
        row = {"machine": args.machine, "date": datetime.date.today().isoformat(), "command": "bench_gpu_roots.py",
               "case": name, "size": place, "metric": "ms a step", "ours": own, "ours_mib": mib[forms[0]],
               "ran": ran[forms[0]], "peer": other, "peer_name": form[0], "peer_mib": mib[form],
               "ratio": round(other / own, 3)}
        with open(args.rows, "a", encoding="utf-8") as file:
            print(json.dumps(row), file=file, flush=True)
        print(json.dumps(row), flush=True)


def cases_of(args, folder):
    """(name, file, options) of each step."""
    if not args.cases:
        cases = [] if args.wide else [
            (name, DATA / name / "step.mlir",
             [f"--state-args={json.loads((DATA / name / 'meta.json').read_text())['state_args']}"]) for name in SMALL]
        for size in WIDTHS:
            wide = folder / f"wide_{size}.mlir"
            wide.write_text(WIDE.replace("N", str(size)))
            cases.append((f"a layer of {size} x {size} under Adam", wide, []))
        return cases
    cases = []
    for case in args.cases:
        name, _, rest = case.partition("=")
        path, *options = rest.split(",")
        meta = json.loads((pathlib.Path(path) / "meta.json").read_text())
        cases.append((name, pathlib.Path(path) / "step.mlir", [f"--state-args={meta['state_args']}", *options]))
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("coll", type=pathlib.Path)
    parser.add_argument("machine")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--rows", type=pathlib.Path, default=HERE / "roots_gpu.jsonl")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4])
    parser.add_argument("--modes", type=lambda text: text.split(","), default=["shard", "hash"])
    args = parser.parse_intermixed_args()
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, source, options in cases_of(args, folder):
            for ranks in args.ranks:
                for mode in args.modes:
                    library = folder / f"{name.replace(' ', '_')}_{ranks}_{mode}.so"
                    compile_step(args.coll, source, ranks, [f"--root={mode}", *options], library)
                    for place in [gpus[:1], *([gpus[:ranks]] if len(gpus) >= ranks else [])]:
                        compare(args, library, f"{name}, --root={mode}", ranks, place)


if __name__ == "__main__":
    main()
