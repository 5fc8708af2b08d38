#!/usr/bin/env python3
"""Runs a command with `--steps` of as many steps as a stopped run has done.

usage: as_long.py OUTPUT COMMAND…, where OUTPUT is what the stopped run wrote
"""

import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    steps = re.search(r"after step (\d+) of", file.read())[1]
sys.exit(subprocess.run([*sys.argv[2:], f"--steps={steps}"], check=False).returncode)
