#!/usr/bin/env python3
"""Which folder may include which, and how many sources a folder may have.

  passes -> dialect -> MLIR; compiler -> passes, plan; driver -> compiler, runtime. Of the
  runtime, passes and compiler see only runtime/step/abi/abi.{def,h} and runtime/base/codes.h.
  runtime never includes dialect, passes, compiler, driver, MLIR or LLVM. Inside it
  base, plan <- dl <- net, gpu <- kernels <- backend <- program <- exchange <- step: each may
  include what stands to its left. profiler -> base, dl. Siblings never include each other:
  two backends, two transports, two exchanges; what they share stands beside them
  (backend/call, backend/gpu, exchange/flow). Only the registry names all backends, only the
  plugin for NCCL all transports. Fakes and
  emulations live in test/support, which nothing outside test/ includes. embed and tools sit on top.
  A folder of the product has at most 25 sources. ./dev demo builds where GoogleTest is not
  installed, so no CMakeLists.txt requires it.
"""

import collections
import os
import re

from common import SOURCE, Finding, files, line_of, read, run, strip_comments

GTEST = re.compile(r"find_package\(GTest\b[^)]*REQUIRED")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
ABI = {"runtime/step/abi/abi.h", "runtime/step/abi/abi.def", "runtime/step/abi/table.h"}
CODES = "runtime/base/codes.h"
# What stands above its siblings: the registry names every backend, the plugin every transport.
ABOVE = {"runtime/backend/auto/registry.cc": "backend", "runtime/net/nccl_plugin/network.cc": "net"}
PRODUCT = ("dialect", "passes", "compiler", "driver", "plan", "runtime", "embed", "tools")
MAX_SOURCES = 25

# The rooms of the runtime from left to right; those of one entry do not see each other.
ORDER = (("base", "plan"), ("dl",), ("net", "gpu"), ("kernels",), ("backend",), ("program",),
         ("exchange",), ("step",))
# layer -> layers that it may include, itself apart
ALLOWED = {
    "plan": set(),
    "dialect": {"mlir"},
    "passes": {"mlir", "dialect", "plan", "abi", "codes"},
    "compiler": {"mlir", "dialect", "passes", "plan", "abi", "codes"},
    "driver": {"mlir", "dialect", "passes", "compiler", "plan", "abi", "codes", "base", "dl", "net",
               "gpu", "kernels", "backend", "program", "exchange", "step", "profiler"},
    "profiler": {"base", "codes", "dl"},
}
for number, entry in enumerate(ORDER):
    left = {room for rooms in ORDER[:number] for room in rooms} | {"codes"}
    for room in entry:
        ALLOWED.setdefault(room, left)
for room in ("program", "step"):
    ALLOWED[room] = ALLOWED[room] | {"abi"}
ALLOWED["net"] = ALLOWED["net"] | {"profiler"}
ALLOWED["step"] = ALLOWED["step"] | {"profiler"}

# Rooms whose folders are siblings, with the folders that the others share.
SIBLINGS = {"backend": {"call", "gpu"}, "net": {"bootstrap", "gpu"}, "exchange": {"flow"}}


def layer(path):
    """The layer that a project path belongs to; of siblings with the folder: backend/nccl."""
    parts = path.split("/")
    if path in ABI:
        return "abi"
    if path == CODES:
        return "codes"
    if parts[0] in ("mlir", "llvm", "mlir-c", "llvm-c"):
        return "mlir"
    if parts[0] == "runtime" and len(parts) > 2:
        if parts[1] in SIBLINGS and len(parts) > 3 and parts[2] not in SIBLINGS[parts[1]]:
            return "/".join(parts[1:3])
        return parts[1]
    return parts[0] if len(parts) > 1 else ""


def allowed(source, target):
    """Whether a file at `source` may include `target`."""
    if target.startswith("test/"):
        return False
    here, there = layer(source), layer(target)
    room, other = here.split("/")[0], there.split("/")[0]
    if here == there or there == "" or room not in ALLOWED:
        return True
    if room == other:
        # What siblings share stands below them, and the one that names them all above.
        return there == room or ABOVE.get(source) == room
    if other not in ALLOWED and other not in ("mlir", "abi", "codes", "tools", "embed"):
        return True  # a system header such as sys/mman.h
    return other in ALLOWED[room]


def check(args):
    sources = collections.Counter()
    for name in files(args.root, *SOURCE, under=PRODUCT):
        if name.startswith("runtime/") and layer(name).split("/")[0] not in ALLOWED | {"abi": 0, "codes": 0}:
            yield Finding(name, 1, f"no include rule for folder '{layer(name)}'")
        if name.endswith((".cc", ".cu")):
            sources[os.path.dirname(name)] += 1
        text = strip_comments(read(args.root, name))
        for match in INCLUDE.finditer(text):
            if not allowed(name, match.group(1)):
                yield Finding(name, line_of(text, match.start()),
                              f"{layer(name)} may not include {match.group(1)}")
    for name in files(args.root, "CMakeLists.txt"):
        if match := GTEST.search(text := read(args.root, name)):
            yield Finding(name, line_of(text, match.start()),
                          "./dev demo installs no GoogleTest: find it QUIET, and leave the tests out")
    for folder, count in sources.items():
        if count > MAX_SOURCES:
            yield Finding(folder, 1, f"{count} sources in one folder; at most {MAX_SOURCES}: "
                                     "give its families folders of their own")


if __name__ == "__main__":
    run(check, __doc__)
