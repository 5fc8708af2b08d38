#!/usr/bin/env bash
# Backend nccl over the machine's NCCL, with as many ranks as there are GPUs: conformance in one
# process, every operation on random data in processes and in one, a killed rank, a table of
# routes; then times. What does not measure runs side by side.
source "$(dirname "$0")/section.sh"

# Switched multicast is not needed here, and not every machine's fabric has it set up.
export NCCL_NVLS_ENABLE=0 CUDA_MODULE_LOADING=EAGER COLL_LOG=error
tests=$COLL_BUILD/bin/conformance-tests
perf=$COLL_BUILD/bin/coll-perf
both="nccl,nccl:threads"
shards=4

# The timings are there to be run, not to be read: the GPUs are shared.
operations() {
  local op place timing
  for op in "$@"; do
    place=both timing=eager,latency,graph
    [ "$op" = send_recv ] && place=no timing=eager,latency
    check "$op" 60 "$perf" "$op" --ranks="$COLL_GPUS" --backend=$both -b 4 -e 16M -f 256 \
      -n 3 -w 1 --in-place=$place --timing=$timing --timeout=25
  done
}
types() {
  local words
  for words in "-dbf16 -oavg" -df8e4m3fn "-di64 -omin" "-df16 --scale=0.5"; do
    # shellcheck disable=SC2086 # words on purpose
    check "all_reduce${words// /}" 30 "$perf" all_reduce --ranks="$COLL_GPUS" --backend=nccl \
      -b 1K -e 4M -f 64 -n 3 -w 1 --timeout=25 $words
  done
}

routes() {
  check tune 60 "$perf" tune --ranks="$COLL_GPUS" --backend=nccl,net:gpu --ops=all_reduce,broadcast \
    -b 1K -e 4M -f 64 -n 3 -w 1 --timeout=25 --out="$COLL_REPORT/routes.json"
  [ ! -e "$COLL_REPORT/routes.json" ] ||
    check routed 30 env COLL_ROUTES="$COLL_REPORT/routes.json" "$perf" all_reduce \
      --ranks="$COLL_GPUS" --backend=auto:gpu,nccl -b 1K -e 4M -f 64 -n 3 --timeout=25
}

# Starting communicators is what takes time; on 4 GPUs each pair has half of the shards.
devices() {
  if [ "$COLL_GPUS" -ge 4 ]; then echo $(($1 % 2 * 2)),$(($1 % 2 * 2 + 1)); else seq -s, 0 $((COLL_GPUS - 1)); fi
}
for shard in $(seq 0 $((shards - 1))); do
  CUDA_VISIBLE_DEVICES=$(devices "$shard") GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
    run_gtest "conformance_$shard" 100 "$tests" --gtest_filter='nccl_gpu/*' &
done
operations all_reduce all_gather reduce_scatter &
operations broadcast reduce gather &
operations scatter all_to_all send_recv &
{
  types
  routes
} &
killed killed_rank 20 "$perf" all_reduce --ranks="$COLL_GPUS" --backend=nccl -b 64M -e 64M -n 10000000 \
  --timeout=50 &
wait

# One machine's rows: in graphs, eager and alone; registered memory beside plain.
for op in all_reduce all_gather; do
  check "rows_$op" 60 "$perf" $op --ranks="$COLL_GPUS" --backend=nccl,nccl:registered \
    -b 1K -e 64M -f 16 -n 100 -w 10 --timing=graph,eager,latency --timeout=25 \
    --json="$COLL_ROWS/ops.jsonl" --plot="$COLL_REPORT/$op.svg"
done
# What a call costs the host: without comparisons, and with communicators that block.
for words in COLL_NCCL_CHECK=2 COLL_NCCL_BLOCKING=0 "COLL_NCCL_CHECK=2 COLL_NCCL_BLOCKING=0"; do
  # shellcheck disable=SC2086
  check "rows_${words// /_}" 30 env $words "$perf" all_reduce --ranks="$COLL_GPUS" --backend=nccl \
    -b 1K -e 1M -f 1024 -n 100 -w 10 --timing=eager,latency --timeout=25
done
exit 0
