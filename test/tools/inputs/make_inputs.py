"""Writes inputs that no parser should be given into the folder argv[1]."""

import pathlib
import sys

DEPTH = 5000
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)

(folder / "deep.mlir").write_text(
    f"func.func private @f() attributes {{a = {'[' * DEPTH}{']' * DEPTH}}}\n")

# Brackets in strings and comments, and arrows, nest nothing.
quoted = r'"' + r'[\"' * DEPTH + '"'
arrows = "".join(f"func.func private @f{i}() -> i32\n" for i in range(DEPTH))
(folder / "flat.mlir").write_text(
    f"// {'[' * DEPTH}\nfunc.func private @f() attributes {{a = {quoted}}}\n{arrows}")

(folder / "step.mlirbc").write_bytes(b"ML\xefR\x0dStableHLO_v1.9.0\0vhlo\0")

whole = folder / "whole.mlirbc"
if whole.exists():
    data = whole.read_bytes()
    (folder / "cut.mlirbc").write_bytes(data[:len(data) // 2])
