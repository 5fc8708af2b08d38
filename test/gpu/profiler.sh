#!/usr/bin/env bash
# Stock NCCL with libnccl-profiler-coll.so: two ranks, which share a GPU where there is one, each with an
# NCCL_HOSTID of its own, so that NCCL's network is used. Every collective has to be in the trace with its
# end, nothing may be dropped, and times have to be those of CUDA events. nccl-net-test is a C++ program,
# profiler_torch.py a PyTorch one.
source "$(dirname "$0")/section.sh"

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$COLL_BUILD" && pwd)
out=$(mkdir -p "$COLL_REPORT/profiler" && cd "$COLL_REPORT/profiler" && pwd)
plugin=$build/lib/libnccl-profiler-coll.so
net="NCCL_SOCKET_IFNAME=lo NCCL_CUMEM_HOST_ENABLE=0 NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1"

# traced NAME command…: with the plugin, then the traces are checked.
traced() {
  local folder=$out/$1
  shift
  rm -rf "$folder"
  mkdir -p "$folder"
  # shellcheck disable=SC2086 # words on purpose
  env $net NCCL_PROFILER_PLUGIN="$plugin" COLL_PROFILER_FILE="$folder/%p.pftrace" \
    COLL_PROFILER_SUMMARY="$folder/%p.txt" COLL_PROFILER_RING=262144 COLL_LOG=warn \
    PROFILER_TIMES="$folder" "$@" || return 1
  head -n 20 "$folder"/*.txt
  "$build/bin/coll-trace" check "$folder"/*.pftrace
  "$build/bin/coll-trace" diagnose "$folder"/*.pftrace
  python3 "$here/profiler_check.py" "$folder"
}

program() {
  [ -x "$build/bin/nccl-net-test" ] || { echo "nccl-net-test is not built" && return 77; }
  traced program "$build/bin/nccl-net-test" check --ranks=2 --small=20 --large=1 --label=profiler
}

torch() {
  python3 -c "import torch" || { echo "PyTorch is not installed" && return 77; }
  traced torch python3 -m torch.distributed.run --standalone --nproc-per-node=2 "$here/profiler_torch.py"
}

# What the plugin costs: without and with it, one after the other, several times.
cost() {
  python3 -c "import torch" || { echo "PyTorch is not installed" && return 77; }
  rm -rf "$out/cost"
  mkdir -p "$out/cost"
  for round in 1 2 3 4 5; do
    for case in none coll; do
      local chosen=none
      [ $case = none ] || chosen=$plugin
      # shellcheck disable=SC2086
      env $net NCCL_PROFILER_PLUGIN="$chosen" COLL_PROFILER_FILE=/dev/null \
        python3 -m torch.distributed.run --standalone --nproc-per-node=2 "$here/profiler_torch.py" \
        --loop="$out/cost/$case.$round.json" || return 1
    done
  done
  python3 "$here/profiler_check.py" --cost="$out/cost" --rows="$COLL_ROWS/profiler.jsonl"
}

tests() {
  COLL_TEST_PLUGIN=$plugin run_gtest plays_nccl 120 "$build/bin/nccl-profiler-tests"
  on 2 check stock_nccl 120 "$here/profiler.sh" program
  on 2 check pytorch 240 "$here/profiler.sh" torch
}
measurements() { check cost 300 "$here/profiler.sh" cost; }

case $1 in
  program | torch | cost) "$1" ;;
  *) section "$@" ;;
esac
