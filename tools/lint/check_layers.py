#!/usr/bin/env python3
"""Who may include whom.

  passes -> dialect -> MLIR; of the runtime, passes see only runtime/abi.{def,h}.
  runtime never includes dialect, passes, MLIR or LLVM. Inside it: everyone sees
  the ABI and base; dl -> base; net -> base, dl; kernels -> base; backend/x and
  exchange -> runtime/*.h, base, dl, net, kernels, gpu; profiler -> base, dl. What backends for
  GPUs and the exchange share is in runtime/gpu: gpu -> runtime/*.h, base, dl, net.
  runtime/*.cc sees backends through runtime/backend.h; only the registry names
  them. Siblings never include each other. embed and tools sit on top.
"""

import re

from common import SOURCE, Finding, files, line_of, read, run, strip_comments

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
ABI = {"runtime/abi.h", "runtime/abi.def"}
# The one place that names every backend.
REGISTRY = {"runtime/registry.cc", "runtime/backend/registry.cc"}
# layer -> layers that it may include, itself apart
ALLOWED = {
    "dialect": {"mlir"},
    "passes": {"mlir", "dialect", "abi"},
    "base": {"abi"},
    "dl": {"abi", "base"},
    "net": {"abi", "base", "dl"},
    "kernels": {"abi", "base"},
    "profiler": {"abi", "base", "dl"},
    "gpu": {"abi", "base", "dl", "net", "runtime"},
    "backend": {"abi", "base", "dl", "net", "kernels", "gpu", "runtime"},
    "exchange": {"abi", "base", "dl", "net", "kernels", "gpu", "runtime"},
    "runtime": {"abi", "base", "dl", "profiler"},
}


def layer(path):
    """The layer that a project path belongs to, with the sibling's name for backends."""
    parts = path.split("/")
    if path in ABI:
        return "abi"
    if parts[0] in ("mlir", "llvm", "mlir-c", "llvm-c"):
        return "mlir"
    if parts[0] == "runtime":
        if len(parts) == 2:
            return "runtime"
        if parts[1] == "backend" and len(parts) > 3:
            return "backend/" + parts[2]
        return parts[1]
    return parts[0] if len(parts) > 1 else ""


def allowed(source, target):
    """Whether a file at `source` may include `target`."""
    here, there = layer(source), layer(target)
    if here == there or there == "" or here not in known(here):
        return True
    if source in REGISTRY:
        return not there == "mlir"
    if there.split("/")[0] not in ALLOWED and there not in ("mlir", "abi", "tools", "embed"):
        return True  # a system header such as sys/mman.h
    return there in ALLOWED[here.split("/")[0]]


def known(here):
    return {here} if here.split("/")[0] in ALLOWED else set()


def check(args):
    for name in files(args.root, *SOURCE, under=("dialect", "passes", "runtime")):
        if layer(name).split("/")[0] not in ALLOWED and layer(name) != "abi":
            yield Finding(name, 1, f"no include rule for folder '{layer(name)}'")
        text = strip_comments(read(args.root, name))
        for match in INCLUDE.finditer(text):
            if not allowed(name, match.group(1)):
                yield Finding(name, line_of(text, match.start()),
                              f"{layer(name)} may not include {match.group(1)}")


if __name__ == "__main__":
    run(check, __doc__)
