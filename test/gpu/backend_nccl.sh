#!/usr/bin/env bash
# Backend nccl over the machine's NCCL, with as many ranks as there are GPUs: conformance in one
# process, operations in processes, times beside backend net.
source "$(dirname "$0")/section.sh"

export CUDA_MODULE_LOADING=EAGER COLL_LOG=error
tests=$COLL_BUILD/bin/conformance-tests
run_gtest conformance 150 "$tests" --gtest_filter='nccl_gpu/*'

perf=$COLL_BUILD/bin/coll-perf
# Every operation on random data against the reference, in one process per rank.
for op in all_reduce all_gather reduce_scatter broadcast reduce gather scatter all_to_all send_recv; do
  place=both
  [ $op = send_recv ] && place=no
  check "$op" 60 "$perf" $op --ranks="$COLL_GPUS" --backend=nccl -b 4 -e 16M -f 64 \
    -n 3 -w 1 --in-place=$place --timing=eager,latency
done
for dtype in bf16 f8e4m3fn i64; do
  check "all_reduce_$dtype" 30 "$perf" all_reduce --ranks="$COLL_GPUS" --backend=nccl -b 1K -e 4M \
    -f 64 -n 3 -w 1 --dtype=$dtype
done

# A rank that is killed ends the others, long before they would be done.
if [ "$COLL_GPUS" -lt 2 ]; then
  result killed_rank skipped "needs 2 GPUs, $COLL_GPUS here"
else
  "$perf" all_reduce --ranks="$COLL_GPUS" --backend=nccl -b 64M -e 64M -n 10000000 --timeout=20 \
    </dev/null &
  running=$!
  sleep 15
  kill -KILL "$(pgrep -P $running | tail -1)"
  begin=$SECONDS code=0
  wait $running || code=$?
  if [ $code -eq 1 ] && [ $((SECONDS - begin)) -lt 60 ]; then
    result killed_rank passed
  else
    result killed_rank failed "exit code $code after $((SECONDS - begin)) s"
  fi
fi

# One machine's rows: eager, in graphs and alone; registered memory beside plain.
check rows 90 env COLL_NCCL_BLOCKING=1 "$perf" all_reduce --ranks="$COLL_GPUS" --backend=nccl,nccl:registered \
  -b 1K -e 256M -f 4 -n 50 -w 10 --timing=graph,eager,latency \
  --json="$COLL_ROWS/ops.jsonl" --plot="$COLL_REPORT/all_reduce.svg"
check tune 60 "$perf" tune --ranks="$COLL_GPUS" --backend=nccl,net:gpu --ops=all_reduce,broadcast \
  -b 1K -e 16M -f 16 -n 5 -w 2 --out="$COLL_REPORT/routes.json"
[ ! -e "$COLL_REPORT/routes.json" ] ||
  check routed 30 env COLL_ROUTES="$COLL_REPORT/routes.json" "$perf" all_reduce \
    --ranks="$COLL_GPUS" --backend=auto:gpu,nccl -b 1K -e 16M -f 64 -n 5
exit 0
