#!/usr/bin/env python3
"""Times a step whose tensor changes its sharding by routes, and by collectives, in turns.

usage: bench_routes.py [--tools=build/bin] [--device=cpu|gpu] [--backend=NAME] [--steps=50] [--turns=3] [--out=ROWS]

The tensor of 128 MiB is split as [a, b, -], and used as [b, -, a]: two all_to_all move some elements twice.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

from rows import begin_row, put_row

TYPE = "tensor<256x256x512xf32>"
STEP = f"""coll.mesh @m ["a" = 2, "b" = 2]
func.func @step(%x: {TYPE} {{coll.role = "state", coll.sharding = #coll.sharding<@m, [["a"], ["b"], []]>}})
    -> ({TYPE} {{coll.sharding = #coll.sharding<@m, [["a"], ["b"], []]>}}, tensor<f32>) {{
  %half = arith.constant dense<0.5> : {TYPE}
  %e = tensor.empty() : {TYPE}
  %y = linalg.mul {{coll.shardings = [#coll.sharding<@m, [["b"], [], ["a"]]>]}}
    ins(%x, %half : {TYPE}, {TYPE}) outs(%e : {TYPE}) -> {TYPE}
  %z = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.reduce {{ arith.addf }} ins(%y : {TYPE}) outs(%z : tensor<f32>) dimensions = [0, 1, 2]
  return %y, %loss : {TYPE}, tensor<f32>
}}
"""
# Links on which calls are too dear for routes.
COLLECTIVES = {"version": 1, "hosts": [{"name": "a", "ranks": 4}],
               "links": [{"between": ["a", "a"], "bandwidth_gb_per_s": 10, "latency_us": 5, "call_us": 1e6}]}

LIMIT = {"cpu": "memory, as pieces are copied once more", "gpu": "bytes that are sent"}


def tool(tools, name):
    path = pathlib.Path(tools)
    return [str(path), name.removeprefix("coll-")] if path.is_file() else [str(path / name)]


def milliseconds(options, step, *more):
    done = subprocess.run([*tool(options.tools, "coll-run"), str(step), "--ranks=4", f"--steps={options.steps}",
                           f"--device={options.device}", f"--backend={options.backend}", *more],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(re.search(r"([0-9.]+) ms/step", done.stdout + done.stderr)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--backend", default="threads", help="of ranks on GPUs, threads copies by way of the host")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        step, links = pathlib.Path(folder) / "step.mlir", pathlib.Path(folder) / "links.json"
        step.write_text(STEP)
        links.write_text(json.dumps(COLLECTIVES))
        routes, collectives = [], []
        for _ in range(options.turns):
            routes.append(milliseconds(options, step))
            collectives.append(milliseconds(options, step, f"--topology={links}"))
    ours, peer = statistics.median(routes), statistics.median(collectives)
    put_row(begin_row() | {"case": "[a, b, -] to [b, -, a], and back", "size": "128 MiB, 4 ranks",
                           "device": options.device, "backend": options.backend, "metric": "ms a step",
                           "ours": ours, "peer": peer, "peer_name": "the same by all_to_all",
                           "ratio": round(peer / ours, 3), "limit": LIMIT[options.device]},
            options.out)


if __name__ == "__main__":
    main()
