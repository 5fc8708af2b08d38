#!/usr/bin/env bash
# Reshards on the machine's GPUs: the executor's random cases with ranks of one process, remote
# tensors, processes that open each other's memory, checked element by element; then times beside
# NCCL and strided copies. Ranks share a GPU where there are fewer.
source "$(dirname "$0")/section.sh"

perf=$COLL_BUILD/bin/coll-perf

small() { # NAME arguments…
  on 2 check "$1" 60 "$perf" reshard --memory=gpu -n 2 -w 1 "${@:2}" &
}

# A rank is killed: inside a node, where it has mapped the others' memory, and across the network.
deaths() {
  local endless=("$perf" reshard --memory=gpu --no-check --strategy=routed --direction=push --peers=none
    -n 1000 --repeat=1000)
  killed killed_rank 30 "${endless[@]}" --shape=4096x4096 &
  killed killed_rank_two_nodes 30 "${endless[@]}" --shape=1024x1024 --nodes=2 &
  wait
}

tests() {
  local sanitizer
  if sanitizer=$(command -v compute-sanitizer); then
    on 1 check memcheck 120 env COLL_TEST_SLOW=1 "$sanitizer" --error-exitcode=1 \
      "$COLL_BUILD/bin/reshard-gpu-tests" --gtest_filter='cuda/*Kernel*:cuda/*Graph*' &
  else
    result memcheck skipped "compute-sanitizer is not installed"
  fi
  on all run_gtest random 180 "$COLL_BUILD/bin/reshard-gpu-tests" --gtest_filter='cuda/*' &
  on 2 run_gtest remote_tensors 60 "$COLL_BUILD/bin/remote-tensor-tests" --gtest_filter='*Cuda*' &
  # Uneven, misaligned, replicated, one side smaller than the other.
  small uneven --shape=1001x777 --senders=3 --receivers=2
  small overlapping --shape=130x17x33 --dtype=bf16 --senders=2 --receivers=4 --same --from=1 --to=2
  small engines --shape=999x8192 --senders=3 --receivers=2 --engine=copies --streams=3
  small nodes --shape=1001x7777 --senders=3 --receivers=2 --nodes=2 --engine=auto,kernel,copies \
    --peers=none
  small replicas --shape=4096x1024 --senders=2 --receivers=2 --same --to=-1 --streams=4
  small bytes --shape=2049x4095 --dtype=i8 --senders=1 --receivers=3 --from=-1
  on 2 deaths &
}

# 10,000 MiB from rows to columns: to other GPUs, and among the same GPUs; GPU memory between two
# nodes, over tcp; host memory, over tcp and shared memory.
measurements() {
  local memory both=$((COLL_GPUS < 4 ? COLL_GPUS : 4))
  # 10,000 MiB; less without transfers between GPUs, because filling and checking would take longer.
  local side=$((COLL_GPUS < 2 ? 25600 : 51200)) host_side=$((COLL_GPUS < 2 ? 12800 : 51200))
  local large=(reshard --memory=gpu --shape=${side}x$side --json="$COLL_ROWS/reshard.jsonl")
  check rows_2_to_2 120 "$perf" "${large[@]}" --senders=2 --receivers=2 --engine=auto,kernel
  [ "$both" -eq 1 ] || check rows_same 120 "$perf" "${large[@]}" --senders=$both --receivers=$both --same
  check rows_nodes 60 "$perf" "${large[@]}" --senders=2 --receivers=2 --nodes=2 \
    --direction=push -n 1 -w 1 --repeat=1 --peers=none
  for memory in host shm; do
    check rows_$memory 60 "$perf" reshard --memory=$memory --shape=${host_side}x$host_side --direction=push -n 1 -w 0 \
      --repeat=1 --json="$COLL_ROWS/reshard.jsonl"
  done
}

section "$@"
