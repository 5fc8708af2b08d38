#!/usr/bin/env bash
# Backend direct on the machine's GPUs: conformance with ranks in one process, operations in
# processes by both ways to share memory, a killed rank; times beside NCCL. Ranks share the GPU
# of a machine with only one.
source "$(dirname "$0")/section.sh"

perf=$COLL_BUILD/bin/coll-perf
ranks=$COLL_GPUS places=direct,direct:threads,direct:registered
if [ "$COLL_GPUS" -lt 2 ]; then
  # Kernels of several processes take turns on a GPU.
  ranks=2 places=direct:threads,direct:threads:registered
fi

# Every operation on random data against the reference.
operations() {
  local op place
  for op in all_reduce all_gather reduce_scatter broadcast reduce gather scatter all_to_all send_recv; do
    place=both
    [ $op = send_recv ] && place=no
    check $op 60 "$perf" $op --ranks="$ranks" --backend=$places -b 4 -e 16M -f 64 -n 3 -w 1 \
      --in-place=$place --timing=eager,latency --timeout=20
  done
}
types() {
  local dtype
  for dtype in bf16 i64 i8; do
    check "all_reduce_$dtype" 30 "$perf" all_reduce --ranks="$ranks" --backend=$places -b 1K -e 4M \
      -f 64 -n 3 -w 1 --dtype=$dtype --order=rank
  done
}
ways() {
  local way table=$COLL_REPORT/direct_routes.json
  if [ "$COLL_GPUS" -lt 2 ]; then
    for way in ipc vmm; do
      check $way 30 env COLL_DIRECT_MEMORY=$way "$perf" all_reduce --ranks=2 \
        --backend=direct,direct:registered,direct:user -b 4 -e 1M -f 64 -n 1 -w 0 --repeat=1 --timeout=20
    done
    return
  fi
  check ipc 30 env COLL_DIRECT_MEMORY=ipc "$perf" all_reduce --ranks=2 \
    --backend=direct,direct:registered,direct:user -b 4 -e 16M -f 64 -n 3 -w 1
  echo '{"format": "coll routes", "version": 1, "routes": [{"memory": "gpu", "backend": "direct"}]}' >"$table"
  check routed 30 env COLL_ROUTES="$table" "$perf" all_reduce --ranks=2 --backend=auto:gpu,direct \
    -b 1K -e 16M -f 64 -n 5
  check default_routes 30 "$perf" all_reduce --ranks="$ranks" --backend=auto:gpu,nccl,direct -b 1K -e 1M \
    -f 16 -n 5 --timing=eager,graph,latency
}
# Steps of optimizers; between processes, too.
updates() {
  local dtype
  for dtype in f32 bf16; do
    check "root_update_$dtype" 60 "$perf" root_update --ranks="$ranks" --backend=${places%%,*} -b 4 -e 16M \
      -f 64 -n 3 -w 1 --dtype=$dtype --timing=eager,graph,latency --timeout=20
  done
  check root_update_ipc 30 env COLL_DIRECT_MEMORY=ipc "$perf" root_update --ranks=2 --backend=direct \
    -b 1K -e 1M -f 64 -n 1 -w 0 --optimizer=lion --timeout=20
}
# Starting processes takes longer than the calls, so two cases run at once; more would only take
# turns on the GPUs.
side_by_side() {
  operations &
  types
  ways
  updates
  wait
}

tests() {
  on all run_gtest conformance 120 "$COLL_BUILD/bin/conformance-tests" --gtest_filter='direct_gpu/*' &
  on all side_by_side &
  on all killed killed_rank 30 "$perf" all_reduce --ranks="$ranks" --backend=direct -b 64M -e 64M \
    -n 10000000 --timeout=20 &
}

measurements() {
  local op
  if [ "$COLL_GPUS" -lt 2 ]; then
    result rows skipped "needs 2 GPUs, $COLL_GPUS here"
    return
  fi
  for op in all_reduce all_gather reduce_scatter broadcast reduce gather scatter all_to_all send_recv; do
    local timing=graph,eager backends=direct,direct:registered,nccl,nccl:registered factor=16
    [ $op = all_reduce ] && timing=graph,eager,latency factor=4
    [ $op = send_recv ] && timing=eager backends=direct,nccl
    check "rows_$op" 90 "$perf" $op --ranks="$ranks" \
      --backend=$backends -b 1K -e 1G -f $factor -n 20 -w 5 --timing=$timing \
      --json="$COLL_ROWS/ops.jsonl" --plot="$COLL_REPORT/$op.svg"
  done
  # 1, 16 and 128 Mi parameters.
  local dtype mebi
  for dtype in 4:f32 2:bf16; do
    for mebi in 1 16 128; do
      check "rows_root_update_${dtype#*:}_$mebi" 60 "$perf" root_update --ranks="$ranks" \
        --backend=direct,nccl,nccl:sharded -b $((${dtype%:*} * mebi))M -e $((${dtype%:*} * mebi))M \
        --dtype=${dtype#*:} --optimizer=adam -n $((mebi < 100 ? 20 : 5)) --timing=graph,eager \
        --json="$COLL_ROWS/root_update.jsonl"
    done
  done
}

section "$@"
