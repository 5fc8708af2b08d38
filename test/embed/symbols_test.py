#!/usr/bin/env python3
"""The C API exports the functions of its headers, each with its version, and nothing else: but for the
identities of MLIR's types, where libMLIR.so is shared with other users.

usage: symbols_test.py HEADER... LIBRARY...
"""

import re
import subprocess
import sys


def declared(header):
    with open(header, encoding="utf-8") as file:
        return set(re.findall(r"COLL_EXPORT[^;]*?\b(coll_\w+)\(", file.read()))


def is_type_identity(name):
    return "TypeIDResolver" in name and name.startswith(("_ZZN4mlir6detail", "_ZGVZN4mlir6detail"))


def exported(library):
    """Names with their versions, as nm shows them; the version's own symbol is absolute."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    names = {line.split()[-1] for line in lines if line.split()[-2] != "A"}
    needed = subprocess.run(["readelf", "-d", library], check=True, capture_output=True,
                            text=True).stdout
    return {name for name in names if "libMLIR.so" not in needed or not is_type_identity(name)}


def main():
    headers = [name for name in sys.argv[1:] if name.endswith(".h")]
    libraries = [name for name in sys.argv[1:] if not name.endswith(".h")]
    expected = {f"{name}@@COLL_0.1" for header in headers for name in declared(header)}
    failed = False
    for library in libraries:
        found = exported(library)
        for name in sorted(found ^ expected):
            print(f"{library}: {'in no header' if name in found else 'missing'}: {name}")
            failed = True
    return 1 if failed or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
