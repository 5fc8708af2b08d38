#!/usr/bin/env bash
# Stock NCCL with libnccl-profiler-coll.so: two ranks, which share a GPU where there is one, each with an
# NCCL_HOSTID of its own, so that NCCL's network is used. Every collective has to be in the trace with its
# end, nothing may be dropped, and times have to be those of CUDA events. nccl-net-test and
# nccl-launch are C++ programs, profiler_torch.py and profiler_jax.py use PyTorch and JAX.
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
    COLL_PROFILER_SUMMARY="$folder/%p.txt" COLL_LOG=warn \
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

# 100 calls of 1 MiB and of 64 MiB, and of half of each; then graphs of four calls, captured once and replayed.
sizes=--bytes=524288,1048576,33554432,67108864
launch() { traced launch "$build/bin/nccl-launch" --processes=2 $sizes --replays=10; }

# The same over NVLink: ranks of one host, each with a GPU of its own; of a C++ program, and of PyTorch.
nvlink() {
  [ "$COLL_GPUS" -ge 2 ] || { echo "needs 2 GPUs, $COLL_GPUS here" && return 77; }
  net="NCCL_HOSTID=host"
  traced nvlink "$build/bin/nccl-launch" --processes=2 --one-host $sizes --replays=10 || return 1
  ! python3 -c "import torch" || traced nvlink_torch \
    python3 -m torch.distributed.run --standalone --nproc-per-node=2 "$here/profiler_torch.py"
}

# The same through our network for NCCL.
net() {
  NCCL_NET_PLUGIN=$build/lib/libnccl-net-coll.so \
    traced net "$build/bin/nccl-launch" --processes=2 $sizes
}

# Two plugins at once, which NCCL itself cannot.
mux() {
  plugin=$build/lib/libnccl-profiler-coll-mux.so
  COLL_PROFILER_PLUGINS=$build/lib/libnccl-profiler-coll.so,$build/lib/libnccl-profiler-empty.so \
    traced mux "$build/bin/nccl-launch" --processes=2
}

# Compiled steps on backends of our own, by our host of plugins: their collectives have the GPU's stamps.
own() {
  local folder=$out/own
  rm -rf "$folder"
  mkdir -p "$folder"
  COLL_PROFILER_PLUGINS=$plugin COLL_PROFILER_FILE=$folder/%p.pftrace COLL_LOG=warn \
    "$build/bin/gpu-steps-tests" --gtest_filter='StepsOnGpuTest.RanksShareAGpu' || return 1
  "$build/bin/coll-trace" check "$folder"/*.pftrace
  python3 "$here/profiler_check.py" --own "$folder"
}

# A compiled step with COLL, the static file coll, on each backend that takes one: every collective of the timeline has
# its reason and its completion, and what a plugin hears is consistent.
steps() {
  [ -n "${COLL:-}" ] || { echo "COLL does not name the static file coll" && return 77; }
  local step=test/data/jax/mlp_digits_momentum folder=$out/steps backends=(threads net) backend
  [ "$COLL_GPUS" -lt 2 ] || backends+=(nccl direct)
  rm -rf "$folder"
  mkdir -p "$folder"
  "$COLL" compile $step/step.mlir --state-args=8 --ranks=2 --device=gpu -o "$folder/step.so" || return 1
  for backend in "${backends[@]}"; do
    mkdir "$folder/$backend"
    COLL_PROFILER_PLUGINS=$plugin COLL_PROFILER_FILE=$folder/$backend/%p.pftrace COLL_LOG=warn \
      "$COLL" exec "$folder/step.so" --steps=3 --backend="$backend" --profile="$folder/$backend.timeline" || return 1
    python3 "$here/../run/inputs/profile.py" "$folder/$backend.timeline" | tail -n 12 | tee "$folder/$backend.facts"
    grep -q '^0 operations without a reason' "$folder/$backend.facts" || return 1
    "$build/bin/coll-trace" check "$folder/$backend.timeline" "$folder/$backend"/*.pftrace || return 1
  done
}

torch() {
  python3 -c "import torch" || { echo "PyTorch is not installed" && return 77; }
  traced torch python3 -m torch.distributed.run --standalone --nproc-per-node=2 "$here/profiler_torch.py"
}

jax_ranks() {
  local port=$((20000 + RANDOM % 20000)) code=0
  python3 "$here/profiler_jax.py" 1 2 $port &
  python3 "$here/profiler_jax.py" 0 2 $port || code=$?
  wait $! || code=$?
  return $code
}
jax() {
  python3 -c "import jax; assert jax.devices('gpu')" || { echo "JAX for GPUs is not installed" && return 77; }
  traced jax "$here/profiler.sh" jax_ranks
}

# expect trace|error NAME [mpirun arguments… --] arguments…: nccl-launch, started by mpirun where it is named,
# ends with traces that are right, or with an error of NCCL.
expect() {
  local outcome=$1 name=$2 folder=$out/matrix.$2 starter=()
  shift 2
  if [ "$1" = mpirun ]; then
    command -v mpirun >/dev/null || { echo "$name: SKIPPED: there is no mpirun" && return; }
    while [ "$1" != -- ]; do starter+=("$1") && shift; done
    shift
  fi
  rm -rf "$folder"
  mkdir -p "$folder"
  # shellcheck disable=SC2086
  if env $net NCCL_PROFILER_PLUGIN="$plugin" COLL_PROFILER_FILE="$folder/%p.pftrace" COLL_PROFILER_SUMMARY= \
    timeout 60 ${starter[@]+"${starter[@]}"} "$build/bin/nccl-launch" --calls=20 "$@" >"$folder/log" 2>&1; then
    [ "$outcome" = trace ] && "$build/bin/coll-trace" check "$folder"/*.pftrace >>"$folder/log" &&
      echo "$name: a trace" && return
  elif [ "$outcome" = error ] && grep -q '^nccl-launch: rank.*ncclCommInitRank' "$folder/log"; then
    echo "$name: $(grep -m 1 '^nccl-launch: rank.*ncclCommInitRank' "$folder/log")" && return
  fi
  tail -n 5 "$folder/log"
  echo "$name: expected: $outcome" && return 1
}

# Processes and threads, with MPI and without, ranks fewer than GPUs, as many, and more. More threads or processes
# of one host than GPUs are an error of NCCL; processes of several hosts may share them.
matrix() {
  local gpus code=0 mpi=(mpirun --allow-run-as-root --oversubscribe)
  gpus=$COLL_GPUS
  expect trace one_rank --processes=1 || code=1
  expect trace a_rank_for_each_gpu --processes=1 --threads="$gpus" || code=1
  expect trace two_hosts_share_gpus --processes=2 --threads="$gpus" || code=1
  expect trace three_hosts --processes=3 --threads=1 || code=1
  expect error more_threads_than_gpus --processes=1 --threads=$((gpus + 1)) || code=1
  expect error more_processes_of_one_host_than_gpus --one-host --processes=$((gpus + 1)) || code=1
  expect trace one_process_of_mpi "${mpi[@]}" -n 1 -- --mpi || code=1
  expect trace a_process_of_mpi_for_each_gpu "${mpi[@]}" -n "$gpus" -- --mpi --one-host || code=1
  expect trace threads_of_processes_of_mpi "${mpi[@]}" -n 2 -- --mpi --threads="$gpus" || code=1
  expect trace more_hosts_of_mpi_than_gpus "${mpi[@]}" -n $((gpus + 1)) -- --mpi || code=1
  expect error more_processes_of_mpi_than_gpus "${mpi[@]}" -n $((gpus + 1)) -- --mpi --one-host || code=1
  return $code
}

# What plugins cost a loop of calls of 1 MiB: none, one that records nothing, ours, and NCCL's example if
# NCCL_PROFILER_EXAMPLE names it, in turns on one communicator. Two ranks: over NVLink, or over sockets where they
# share a GPU.
cost() {
  local plugins=$plugin names=(libnccl-profiler-coll) switch=$build/lib/libnccl-profiler-switch.so
  [ -z "${NCCL_PROFILER_EXAMPLE:-}" ] || { plugins+=:$NCCL_PROFILER_EXAMPLE && names+=("NCCL's example"); }
  local how=(env) links=NVLink options=(--one-host --calls=1500 --turns="${PROFILER_TURNS:-60}")
  [ "$(nproc)" -lt 12 ] || [ "$COLL_GPUS" -lt 2 ] || { options+=(--pin) && links="NVLink, pinned threads"; }
  # shellcheck disable=SC2206
  [ "$COLL_GPUS" -ge 2 ] ||
    { how=(env $net) && links=sockets && options=(--calls=50 --turns="${PROFILER_TURNS:-20}"); }
  rm -rf "$out/cost"
  "${how[@]}" NCCL_PROFILER_PLUGIN="$switch" COLL_PROFILER_FILE=/dev/null NCCL_PROFILE_EVENT_MASK=4095 \
    NCCL_PROFILE_DUMP_FILE=/dev/null "$build/bin/nccl-launch" --processes=2 "${options[@]}" \
    --switch="$switch:$plugins" >"$out/cost" || return 1
  python3 "$here/profiler_check.py" --cost="$out/cost" --links="$links" --plugins "${names[@]}" \
    --rows="$COLL_ROWS/profiler.jsonl"
}

tests() {
  COLL_TEST_PLUGIN=$plugin run_gtest plays_nccl 120 "$build/bin/nccl-profiler-tests"
  on 2 check stock_nccl 120 "$here/profiler.sh" program
  on 2 check nccl_launch 120 "$here/profiler.sh" launch
  on 2 check nvlink 240 "$here/profiler.sh" nvlink
  on 2 check net_plugin 120 "$here/profiler.sh" net
  on 2 check two_plugins 120 "$here/profiler.sh" mux
  on 1 check own_backends 120 "$here/profiler.sh" own
  on 2 check compiled_steps 120 "$here/profiler.sh" steps
  on all check launch_matrix 240 "$here/profiler.sh" matrix
  on 2 check pytorch 240 "$here/profiler.sh" torch
  on 2 check jax 240 "$here/profiler.sh" jax
}
measurements() { check cost 300 "$here/profiler.sh" cost; }

case $1 in
  program | launch | nvlink | net | mux | own | steps | torch | jax | jax_ranks | matrix | cost) "$1" ;;
  *) section "$@" ;;
esac
