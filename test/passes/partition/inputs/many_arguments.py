"""Prints the MiB that a step with thousands of arguments takes on its way to rank programs.

usage: many_arguments.py COLL_OPT
"""

import pathlib
import resource
import subprocess
import sys
import tempfile

COUNT = 4000

names = ", ".join(f"%a{i}: tensor<8xf32>" for i in range(COUNT))
body = "\n".join(f'%r{i} = "stablehlo.add"(%a{i}, %a{i}) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>' for i in range(COUNT))
results = ", ".join(f"%r{i}" for i in range(COUNT))
types = ", ".join(["tensor<8xf32>"] * COUNT)
text = f"func.func @main({names}) -> ({types}) {{\n{body}\nreturn {results} : {types}\n}}\n"

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "step.mlir"
    path.write_text(text)
    done = subprocess.run([sys.argv[1], path, f"--coll-import=state-args={COUNT}", "--coll-insert-strategy=mesh=dp=4 strategy=fsdp",
                           "--coll-propagate", "--coll-insert-reshards", "--coll-partition", "--coll-rank-programs"],
                          stdout=subprocess.PIPE, text=True, check=True)
print(f"{done.stdout.count('coll.global_type = tensor<8xf32>')} types in the programs")
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, "MiB")
