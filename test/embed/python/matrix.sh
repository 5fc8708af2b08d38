#!/usr/bin/env bash
# matrix.sh FOLDER PYTHON: every step of examples/jax_steps through coll.jit on 1, 3, 4 and 8 ranks, in the
# newest JAX for this Python and in one from a year before. FOLDER is that of run.sh, which has made the
# package; a table for each version is written there. 77: no JAX can be installed.
set -euo pipefail
folder=$1 python=$2
source=$(cd "$(dirname "$0")/../../.." && pwd)
outcome=0
for version in jax jax==0.8.0; do
  venv=$folder/venv-$version
  if ! { "$python" -m venv "$venv" &&
    timeout 600 "$venv/bin/pip" install -q --disable-pip-version-check \
      "$version" numpy flax optax diffrax distrax dm-haiku equinox jmp; } >"$folder/pip.log" 2>&1; then
    echo "SKIPPED: $version and its libraries cannot be installed: $(tail -1 "$folder/pip.log")"
    exit 77
  fi
  PYTHONPATH=$folder/package JAX_PLATFORMS=cpu "$venv/bin/python" "$source/test/embed/python/steps_of_jax.py" \
    --jobs="$(nproc)" --table="$folder/steps_of_${version/==/_}.md" || outcome=1
done
exit $outcome
