#!/usr/bin/env bash
# Steps of JAX compiled for this machine's GPU. COLL names the static file coll, which holds the compiler;
# without it build-release or build has the tools. What runs the runtime's own kernels is a coll-exec of
# COLL_BUILD.
source "$(dirname "$0")/section.sh"
here=$(dirname "$0")/compiled
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

script() { # NAME SECONDS SCRIPT ARGUMENTS…
  check "$1" "$2" python3 "$here/$3.py" "${@:4}"
}

run_tool() {
  (cd "$here" && python3 -c 'from common import tool; print(*tool("run"))')
}

digits() {
  local data=test/data/jax/mlp_digits_momentum run
  run=$(run_tool) || { echo "$run" && return 77; }
  # shellcheck disable=SC2086 # words
  $run $data/step.mlir --device=gpu --state-args=8 --data=$data/reference.npz \
    --dataset=test/data/digits/digits.npz --eval=test/data/digits/eval_mlp.mlir --batch-size=64 --epochs=20 --check \
    | tee "$files/digits.log"
  grep -Eq 'held-out accuracy: (9[5-9]|100)\.' "$files/digits.log"
}

# The ranks of a GPU beside the step on one rank of a GPU, and of the CPU beside it.
check_on_gpu() {
  local data=test/data/jax/gpt_tiny_adamw device run
  run=$(run_tool) || { echo "$run" && return 77; }
  for device in gpu cpu; do
    # shellcheck disable=SC2086 # words
    $run $data/step.mlir --device=$device --ranks=2 --state-args=79 --data=$data/reference.npz --check=gpu \
      --quiet || return
  done
}

tests() {
  mkdir -p "$files/net" "$files/tokens" "$files/repeat" "$files/sanitize" "$files/faults" "$files/roots" "$files/gpt"
  export COLL_CACHE_DIR=$files/cache
  on 1 script tables 300 every_step --tables
  on 1 script every_step 500 every_step --rows="$COLL_REPORT/every_step.jsonl"
  on 1 script over_net 300 over_net "$files/net"
  on 1 script tokens 120 tokens "$files/tokens"
  on 1 check check_on_gpu 120 check_on_gpu
  on 1 script repeat 300 repeat "$files/repeat"
  on 1 script sanitize 500 sanitize "$files/sanitize"
  on 1 script faults 300 faults "$files/faults"
  on all script roots 300 roots "$files/roots" --rows="$COLL_REPORT/roots.jsonl"
  on 1 check digits 120 digits
  on 1 script train_gpt 300 train_gpt "$files/gpt" --curve="$COLL_REPORT/gpt_curve.json"
}

section "$@"
