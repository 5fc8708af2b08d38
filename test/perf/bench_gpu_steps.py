"""Times steps compiled for a GPU beside JAX on the same GPU; appends rows to gpu_steps.jsonl.

    bench_gpu_steps.py COLL_EXEC MACHINE STEP.so=FOLDER[,PRECISION] …

STEP.so comes from `coll-compile FOLDER/step.mlir --device=gpu:ARCH [--matmul-precision=PRECISION]`,
on any machine. JAX compiles the same StableHLO, with donated state (jax_peer.py); PRECISION (highest,
the default, or tf32) is what both may do to products of f32. Both wait for each step's results. Needs jax
with CUDA; without it the rows have no peer.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = re.compile(r"(\d+) ranks on GPU memory, \d+ steps: median ([\d.]+) ms.*per rank ([\d.]+) MiB")
PEER = """
import json, os, pathlib, sys
os.environ["JAX_PLATFORMS"] = "cuda"
import jax
sys.path.insert(0, sys.argv[1])
import jax_peer
jax.config.update("jax_default_matmul_precision", sys.argv[3])
result = jax_peer.measure(pathlib.Path(sys.argv[2]), 1, int(sys.argv[4]))
result["peak_mib"] = jax.devices()[0].memory_stats()["peak_bytes_in_use"] / 2**20
print(json.dumps(result))
"""


def ours(coll_exec, step, steps):
    out = subprocess.run([coll_exec, step, f"--steps={steps}"], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    ranks, median, mib = SUMMARY.search(out).groups()
    return int(ranks), float(median), float(mib)


def peer(folder, precision, steps):
    name = {"highest": "highest", "tf32": "tensorfloat32"}[precision]
    done = subprocess.run([sys.executable, "-c", PEER, str(HERE), folder, name, str(steps)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        print(f"{folder}: no peer: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main():
    coll_exec, machine, *cases = sys.argv[1:]
    with open(HERE / "gpu_steps.jsonl", "a", encoding="utf-8") as rows:
        for case in cases:
            step, _, rest = case.partition("=")
            folder, _, precision = rest.partition(",")
            precision = precision or "highest"
            steps = 30 if "gpt2" in folder else 100
            ranks, median, mib = ours(coll_exec, step, steps)
            jax = peer(folder, precision, steps)
            row = {"machine": machine, "date": str(datetime.date.today()),
                   "command": "bench_gpu_steps.py", "size": f"{ranks} rank",
                   "case": f"{pathlib.Path(folder).name}, products in {precision}",
                   "metric": "ms a step", "ours": median, "ours_mib": mib, "peer": None}
            if jax:
                row |= {"peer": round(jax["ms_per_step"], 3), "peer_name": jax["version"],
                        "peer_mib": round(jax["peak_mib"], 1),
                        "ratio": round(jax["ms_per_step"] / median, 3)}
            print(json.dumps(row), file=rows, flush=True)
            print(row, flush=True)


if __name__ == "__main__":
    main()
