"""The same step many times, with CUDA graphs and without: every bit of every result is the same.

    repeat.py FOLDER_FOR_FILES [--times=100]

Each run is a process of its own: eight steps from the same made-up state. The choice of algorithms for
products is made by the first one, and kept.
"""

import argparse
import pathlib
import zipfile

from common import SMALL, STEPS, finish, meta_of, run, side_by_side, tool


def contents(path):
    with zipfile.ZipFile(path) as arrays:
        return {name: arrays.read(name) for name in arrays.namelist()}


def one(case):
    name, ranks, index, options, folder = case
    saved = folder / f"{name}_{ranks}_{index}.npz"
    code, output = run([*tool("run"), STEPS / name / "step.mlir", f"--ranks={ranks}", "--device=gpu",
                        f"--state-args={meta_of(STEPS / name)['state_args']}", "--steps=8", "--seed=1",
                        "--quiet", f"--save={saved}", *options], COLL_CACHE_DIR=folder / "cache")
    if code:
        return output[-500:]
    result = contents(saved)
    saved.unlink()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=100)
    options = parser.parse_args()
    failures = []
    for name in SMALL:
        for ranks in (1, 2):
            times = options.times if ranks == 1 and name == "gpt_tiny_adamw" else options.times // 5
            first = one((name, ranks, 0, [], options.folder))
            cases = [(name, ranks, 1 + i, ["--no-graph"] if i % 4 == 0 else [], options.folder)
                     for i in range(times)]
            different = [i for i, result in enumerate(side_by_side(one, cases, 12)) if result != first]
            print(f"{name:24} {ranks} ranks: {times} runs, a quarter without graphs, "
                  f"{len(different)} differ from the first", flush=True)
            if different or isinstance(first, str):
                failures.append(f"{name} on {ranks} ranks: {first if isinstance(first, str) else different}")
    finish(failures)


if __name__ == "__main__":
    main()
