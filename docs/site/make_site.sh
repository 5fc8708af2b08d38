#!/usr/bin/env bash
# make_site.sh FOLDER PYTHON: the site from the reference in FOLDER, by Sphinx in a virtual
# environment there; skipped where Sphinx cannot be had.
set -euo pipefail
folder=$1 python=$2
here=$(cd "$(dirname "$0")" && pwd)
venv=$folder/venv
if ! "$venv/bin/python" -c 'import furo, myst_parser, sphinx' 2>/dev/null; then
  if ! { "$python" -m venv "$venv" &&
    timeout 300 "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"; } \
    >"$folder/pip.log" 2>&1; then
    echo "SKIPPED: Sphinx cannot be installed: $(tail -1 "$folder/pip.log")"
    exit 77
  fi
fi
"$venv/bin/python" "$here/make_site.py" "$folder" "$folder"
