#!/usr/bin/env bash
# The token exchange of a mixture of experts between processes with a GPU each, or two that share
# the only one: every value checked, a rank that is killed; times by number of multiprocessors.
# kernels.sh tests its kernels.
source "$(dirname "$0")/section.sh"

perf=$COLL_BUILD/bin/coll-perf
gpus=$((COLL_GPUS < 8 ? COLL_GPUS : 8))
ranks=$((gpus > 1 ? gpus : 2))
experts=$((ranks * 16)) many=$((256 / gpus * gpus))
low="$perf moe --low-latency -n 3 --repeat=10"
# Half of the GPUs play another node: tcp between the halves.
pairs=$((ranks / 2 * 2))

# Small and odd shapes.
shapes() {
  check one_rank 60 "$perf" moe --ranks=1 --tokens=33 --hidden=4112 --topk=3 --experts=5 --sms=2 -n 3 -w 1
  check odd 60 "$perf" moe --ranks="$ranks" --tokens=257 --hidden=1040 --topk=5 --experts=$experts \
    --sms=2,6 -n 3 -w 1
  check one_expert 60 "$perf" moe --ranks="$ranks" --tokens=1000 --hidden=2048 --topk=1 \
    --experts="$ranks" --sms=24 -n 3 -w 1
}
low_latency_shapes() {
  check low_latency_one_rank 60 $low --ranks=1 --tokens=33 --hidden=1152 --topk=3 --experts=5
  check low_latency_odd 60 $low --ranks="$ranks" --tokens=37 --hidden=640 --topk=5 --experts=$experts \
    --sms=3,50,0
  check low_latency_one_expert 60 $low --ranks="$ranks" --tokens=1024 --hidden=2048 --topk=1 \
    --experts="$ranks"
}
two_nodes() {
  check two_nodes_odd 60 "$perf" moe --ranks=$pairs --nodes=2 --tokens=257 --hidden=1040 --topk=5 \
    --experts=$((pairs * 16)) --sms=2,6 -n 3 -w 1
  check low_latency_two_nodes 60 $low --ranks=$pairs --nodes=2 --tokens=37 --hidden=640 --topk=5 \
    --experts=$((pairs * 16))
}
# From Python. torchrun turns every failure into exit code 1.
torch() {
  local library=$COLL_BUILD/lib/libcoll-moe.so
  if [ ! -e "$library" ]; then
    result torch skipped "libcoll-moe.so is not built"
  elif ! python3 -c 'import torch' 2>/dev/null; then
    result torch skipped "PyTorch is not installed"
  else
    check torch 90 env COLL_LIB="$COLL_BUILD/lib" python3 -m torch.distributed.run --standalone \
      --nproc-per-node="$gpus" "$(dirname "$0")/moe_torch.py"
  fi
}
# A buffer's calls under compute-sanitizer, with one rank: the tool runs kernels one by one, so
# members that wait for each other would never end.
looked_at() {
  local sanitizer looked
  if ! sanitizer=$(command -v compute-sanitizer); then
    result buffer_memcheck skipped "compute-sanitizer is not installed"
    return
  fi
  looked=("$sanitizer" --target-processes all --error-exitcode 9 "$perf" moe --ranks=1 --tokens=17
    --hidden=1152 --topk=3 --experts=5 --sms=4 -n 1 -w 1 --repeat=1 --timeout=60)
  check buffer_memcheck 60 "${looked[@]}"
  check low_latency_buffer_memcheck 60 "${looked[@]}" --low-latency
}
# Most of the time goes into starting processes, and results do not depend on speed: all at once.
side_by_side() {
  shapes &
  low_latency_shapes &
  two_nodes &
  torch &
  wait
}
# Each takes five seconds, until its kernels give up.
deaths() {
  local low_latency=(--low-latency --tokens=32 --no-check --repeat=10000000 --timeout=5)
  local normal=(--no-check -n 1000000 --calls=dispatch --timeout=5)
  local combine=(--no-check -n 1000000 --calls=combine --timeout=5)
  killed killed_rank 45 "$perf" moe --ranks="$ranks" "${normal[@]}" &
  killed killed_rank_in_combine 45 "$perf" moe --ranks="$ranks" "${combine[@]}" &
  killed low_latency_killed_rank 45 "$perf" moe --ranks="$ranks" --experts=$experts "${low_latency[@]}" &
  killed killed_rank_two_nodes 45 "$perf" moe --ranks=$pairs --nodes=2 --experts=$((pairs * 16)) \
    "${normal[@]}" &
  killed low_latency_killed_rank_two_nodes 45 "$perf" moe --ranks=$pairs --nodes=2 \
    --experts=$((pairs * 16)) "${low_latency[@]}" &
  wait
}

tests() {
  on 1 looked_at &
  on all side_by_side &
  on all deaths &
}

measurements() {
  local rows=--json=$COLL_ROWS/moe.jsonl plot=--plot=$COLL_REPORT/moe
  check rows 120 "$perf" moe --ranks="$gpus" --sms=8,16,24,32 --experts=$many --peers=nccl "$rows" \
    "$plot.svg"
  check rows_skewed 60 "$perf" moe --ranks="$gpus" --sms=24 --experts=$many --tokens=128,1024,4096 \
    --skew=few,one --peers=nccl "$rows"
  # 1 to 128 tokens.
  check low_latency_rows 120 "$perf" moe --low-latency --ranks="$gpus" --experts=$many \
    --peers=nccl "$rows" "${plot}_low_latency.svg"
  [ "$COLL_GPUS" -lt 2 ] && return
  check low_latency_two_nodes_rows 60 "$perf" moe --low-latency --ranks=$pairs --nodes=2 --tokens=128 \
    --experts=$many --repeat=50 "$rows"
  check two_nodes_rows 60 "$perf" moe --ranks=$pairs --nodes=2 --sms=24 --experts=$many -n 5 -w 1 "$rows"
}

section "$@"
