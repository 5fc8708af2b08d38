#!/usr/bin/env python3
"""A wheel of coll: its size, what its files need, and a step in a virtual environment that has nothing else.

    pip wheel . --no-deps && wheel_test.py coll-*.whl

Needs the network, for NumPy. Every file of the wheel has to need glibc and GCC's libraries alone.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

MOST_BYTES = 40_000_000
ALLOWED = re.compile(r"lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+|libcoll\.so\.\d+")
STEP = """
import coll, numpy as np
text = '''func.func @step(%w: tensor<4xf32> {coll.role = "state"}) -> tensor<4xf32> {
  %s = arith.addf %w, %w : tensor<4xf32>
  return %s : tensor<4xf32>
}'''
training = coll.compile(text, ranks=2, untrusted=True).start([np.ones(4, np.float32)])
training.step()
assert training.state()[0].tolist() == [2, 2, 2, 2]
maps = open("/proc/self/maps").read()
assert "libMLIR" not in maps and "libLLVM" not in maps, "MLIR comes from outside of the wheel"
"""


def needs(path):
    """Names of the shared libraries that an ELF file needs; None where it is no such file."""
    done = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=False)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout) if done.returncode == 0 else None


def main():
    wheel = pathlib.Path(sys.argv[1]).resolve()
    findings = []
    if wheel.stat().st_size > MOST_BYTES:
        findings.append(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {MOST_BYTES}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        zipfile.ZipFile(wheel).extractall(folder / "files")
        for path in (folder / "files").rglob("*"):
            foreign = [name for name in needs(path) or () if not ALLOWED.fullmatch(name)] if path.is_file() else []
            if foreign:
                findings.append(f"{path.name} needs {', '.join(foreign)}")
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv/bin/python"
        subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True)
        done = subprocess.run([python, "-c", STEP], cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            findings.append(done.stderr)
    print(*findings or [f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, needs glibc and GCC's libraries alone"],
          sep="\n")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
