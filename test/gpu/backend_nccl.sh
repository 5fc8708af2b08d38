#!/usr/bin/env bash
# Backend nccl over the machine's NCCL, with as many ranks as there are GPUs: conformance in one
# process, every operation on random data in processes and in one, a killed rank, a table of
# routes. direct.sh measures it.
source "$(dirname "$0")/section.sh"

perf=$COLL_BUILD/bin/coll-perf
shards=4

# Timings are only run here; their results mean nothing, because cases share the GPUs.
operations() {
  local op place timing
  for op in "$@"; do
    place=both timing=eager,latency,graph
    [ "$op" = send_recv ] && place=no timing=eager,latency
    check "$op" 60 "$perf" "$op" --ranks="$COLL_GPUS" --backend=nccl,nccl:threads -b 4 -e 16M -f 256 \
      -n 3 -w 1 --in-place=$place --timing=$timing --timeout=25
  done
}
types() {
  local words
  for words in "-dbf16 -oavg" "-df8e4m3fn" "-di64 -omin" "-df16 --scale=0.5"; do
    # shellcheck disable=SC2086 # splits into words
    check "all_reduce${words// /}" 30 "$perf" all_reduce --ranks="$COLL_GPUS" --backend=nccl \
      -b 1K -e 4M -f 64 -n 3 -w 1 --timeout=25 $words
  done
}
routes() {
  local table=$COLL_REPORT/routes.json
  check tune 60 "$perf" tune --ranks="$COLL_GPUS" --backend=nccl,net:gpu --ops=all_reduce,broadcast \
    -b 1K -e 4M -f 64 -n 3 -w 1 --timeout=25 --out="$table"
  [ ! -e "$table" ] || check routed 30 env COLL_ROUTES="$table" "$perf" all_reduce --ranks="$COLL_GPUS" \
    --backend=auto:gpu,nccl -b 1K -e 4M -f 64 -n 3 --timeout=25
}
# Few queues: a context with many takes seconds to make.
conformance() {
  CUDA_DEVICE_MAX_CONNECTIONS=8 GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$1 CUDA_VISIBLE_DEVICES=$2 run_gtest "conformance_$1" 150 \
    "$COLL_BUILD/bin/conformance-tests" --gtest_filter='nccl_gpu/*'
}
# Most of the time goes into starting communicators, so all cases run at the same time; on 4 GPUs,
# each pair runs half of the conformance tests.
side_by_side() {
  local shard devices=(0,1 2,3)
  [ "$COLL_GPUS" -ge 4 ] || devices=("$CUDA_VISIBLE_DEVICES")
  for shard in $(seq 0 $((shards - 1))); do
    conformance "$shard" "${devices[shard % ${#devices[@]}]}" &
  done
  operations all_reduce all_gather reduce_scatter &
  operations broadcast reduce gather &
  operations scatter all_to_all send_recv &
  {
    types
    routes
  } &
  if [ "$COLL_GPUS" -ge 2 ]; then
    killed killed_rank 20 "$perf" all_reduce --ranks="$COLL_GPUS" --backend=nccl -b 64M -e 64M \
      -n 10000000 --timeout=50 &
  else
    result killed_rank skipped "needs 2 GPUs, $COLL_GPUS here"
  fi
  wait
}

tests() { on all side_by_side; }

section "$@"
