#!/usr/bin/env bash
# The token exchange of a mixture of experts between processes with a GPU each: every value checked, times by number of
# multiprocessors, a rank that is killed. Its kernels by themselves: kernels.sh.
source "$(dirname "$0")/section.sh"

export CUDA_MODULE_LOADING=EAGER COLL_LOG=error
perf=$COLL_BUILD/bin/coll-perf
ranks=$((COLL_GPUS < 8 ? COLL_GPUS : 8))
experts=$((ranks * 16))
# Small and odd shapes.
check one_rank 60 "$perf" moe --ranks=1 --tokens=33 --hidden=4112 --topk=3 --experts=5 --sms=2 -n 3 -w 1
check odd 60 "$perf" moe --ranks="$ranks" --tokens=257 --hidden=1040 --topk=5 --experts=$experts --sms=2,6 -n 3 -w 1
check one_expert 60 "$perf" moe --ranks="$ranks" --tokens=1000 --hidden=2048 --topk=1 --experts="$ranks" --sms=24 -n 3 -w 1
check rows 120 "$perf" moe --ranks="$ranks" --sms=8,16,24,32 --experts=$((256 / ranks * ranks)) --json="$COLL_ROWS/moe.jsonl"
# The low-latency mode: odd shapes, then 1 to 128 tokens.
check low_latency_one_rank 60 "$perf" moe --low-latency --ranks=1 --tokens=33 --hidden=1152 --topk=3 --experts=5 -n 3 --repeat=10
check low_latency_odd 60 "$perf" moe --low-latency --ranks="$ranks" --tokens=37 --hidden=640 --topk=5 --experts=$experts --sms=3,50,0 -n 3 --repeat=10
check low_latency_one_expert 60 "$perf" moe --low-latency --ranks="$ranks" --tokens=1024 --hidden=2048 --topk=1 --experts="$ranks" -n 3 --repeat=10
check low_latency_rows 240 "$perf" moe --low-latency --ranks="$ranks" --experts=$((256 / ranks * ranks)) --json="$COLL_ROWS/moe.jsonl"

if [ "$COLL_GPUS" -ge 2 ]; then
  # As if the GPUs were on two nodes: tcp between them.
  pairs=$((ranks / 2 * 2))
  check two_nodes_odd 60 "$perf" moe --ranks=$pairs --nodes=2 --tokens=257 --hidden=1040 --topk=5 --experts=$((pairs * 16)) --sms=2,6 -n 3 -w 1
  check two_nodes 240 "$perf" moe --ranks=$pairs --nodes=2 --sms=24 --experts=$((256 / pairs * pairs)) -n 5 -w 1 --json="$COLL_ROWS/moe.jsonl"
fi

killed killed_rank 45 "$perf" moe --ranks="$ranks" --no-check -n 1000000 --timeout=5
killed low_latency_killed_rank 45 "$perf" moe --low-latency --ranks="$ranks" --tokens=32 \
  --experts=$experts --no-check --repeat=10000000 --timeout=5
killed killed_rank_two_nodes 45 "$perf" moe --ranks=$((ranks / 2 * 2)) --nodes=2 \
  --experts=$((ranks / 2 * 32)) --no-check -n 1000000 --timeout=5
exit 0
