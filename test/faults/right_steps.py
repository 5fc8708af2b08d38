"""Exports the steps of examples/jax_steps with several seeds and runs each on several numbers of ranks with
--check and --reference: a right step has to pass. Needs the packages that those steps import.

    right_steps.py [--seeds=1,2,3,4,5] [--ranks=1,3,4] [--out=FOLDER] [NAME…]

What FOLDER has from an earlier run is not exported again.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

TEST = pathlib.Path(__file__).resolve().parents[1]
STEPS = TEST.parent / "examples" / "jax_steps"


def export(names, seed, out):
    missing = [name for name in names if not (out / name / "meta.json").exists()]
    if missing:
        subprocess.run([sys.executable, STEPS, f"--seed={seed}", f"--out={out}", *missing], check=True,
                       stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=lambda text: text.split(","), default=["1", "2", "3", "4", "5"])
    parser.add_argument("--ranks", default="1,3,4")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    names = options.names
    if not names:
        listed = subprocess.run([sys.executable, STEPS, "--list"], check=True, capture_output=True, text=True)
        names = [line.split(":")[0] for line in listed.stdout.splitlines()]
    runs = failures = 0
    with tempfile.TemporaryDirectory() as work:
        for seed in options.seeds:
            out = (options.out or pathlib.Path(work)) / seed
            export(names, seed, out)
            for name in names:
                done = subprocess.run([sys.executable, TEST / "run" / "jax_steps.py", f"--ranks={options.ranks}",
                                       out / name], check=False)
                runs += len(options.ranks.split(","))
                failures += done.returncode != 0
    print(f"{len(names)} steps, seeds {','.join(options.seeds)}, {options.ranks} ranks: {runs} runs, "
          f"{failures} steps failed")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
