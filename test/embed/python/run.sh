#!/usr/bin/env bash
# run.sh BUILD FOLDER PYTHON: the Python package against the coll that BUILD installs, in a virtual
# environment below FOLDER; skipped where its packages cannot be had.
set -euo pipefail
build=$1 folder=$2 python=$3
source=$(cd "$(dirname "$0")/../../.." && pwd)
venv=$folder/venv
mkdir -p "$folder"
if ! "$venv/bin/python" -c 'import nanobind, numpy, scipy_openblas32, jax, flax, optax' 2>/dev/null; then
  if ! { "$python" -m venv "$venv" &&
    timeout 300 "$venv/bin/pip" install -q --disable-pip-version-check \
      nanobind numpy scipy-openblas32 jax flax optax; } >"$folder/pip.log" 2>&1; then
    echo "SKIPPED: nanobind, numpy, scipy-openblas32, jax, flax and optax cannot be installed: $(tail -1 "$folder/pip.log")"
    exit 77
  fi
fi
cmake --install "$build" --component embed --prefix "$folder/prefix" >"$folder/install.log"
cmake -S "$source/embed/python" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -Dcoll_DIR="$folder/prefix/lib/cmake/coll" -DPython_EXECUTABLE="$venv/bin/python" >"$folder/configure.log" 2>&1 ||
  { cat "$folder/configure.log"; exit 1; }
cmake --build "$folder/build" >"$folder/build.log" 2>&1 || { cat "$folder/build.log"; exit 1; }
package=$folder/package/coll
mkdir -p "$package"
cp -r "$source"/embed/python/coll/. "$package"
cp "$folder"/build/_coll*.so "$folder/build/_coll.pyi" "$package"
cp "$build/lib/libcoll-moe.so" "$package"
export COLL_COMPILE=$build/bin/coll-compile PYTHONPATH=$folder/package:$source/test/embed/python JAX_PLATFORMS=cpu
for test in coll_test exchange_test jit_test snippets_test; do
  "$venv/bin/python" -m unittest "$test"
done
"$venv/bin/python" "$source/examples/06_jit.py"
"$venv/bin/python" "$source/examples/07_flax.py" --epochs=1
if "$venv/bin/python" -c 'import torch' 2>/dev/null; then
  "$venv/bin/python" "$source/examples/08_torch.py"
else
  echo "left out: examples/08_torch.py (PyTorch is not installed)"
fi
"$venv/bin/python" "$source/test/embed/python/steps_of_jax.py" --ranks=1,3 mlp_dropout_adamw attention_lion gru_cond_sgd
