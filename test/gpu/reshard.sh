#!/usr/bin/env bash
# Reshards on the machine's GPUs: the executor's random cases with ranks of one process, remote tensors, then
# processes that open each other's memory, checked element by element and timed beside NCCL and strided copies.
# Ranks share a GPU where there are fewer.
source "$(dirname "$0")/section.sh"

export CUDA_MODULE_LOADING=EAGER COLL_LOG=error
run_gtest random 180 "$COLL_BUILD/bin/reshard-gpu-tests" --gtest_filter='cuda/*'

run_gtest remote_tensors 60 "$COLL_BUILD/bin/remote-tensor-tests" --gtest_filter='*Cuda*'

perf=$COLL_BUILD/bin/coll-perf
# Uneven, misaligned, replicated, one side smaller than the other.
check uneven 60 "$perf" reshard --memory=gpu --shape=1001x777 --senders=3 --receivers=2 -n 2 -w 1
check overlapping 60 "$perf" reshard --memory=gpu --shape=130x17x33 --dtype=bf16 --senders=2 --receivers=4 \
  --same --from=1 --to=2 -n 2 -w 1
check engines 60 "$perf" reshard --memory=gpu --shape=999x8192 --senders=3 --receivers=2 --engine=copies --streams=3 \
  -n 2 -w 1
check replicas 60 "$perf" reshard --memory=gpu --shape=4096x1024 --senders=2 --receivers=2 --same --to=-1 \
  --streams=4 -n 2 -w 1
check bytes 60 "$perf" reshard --memory=gpu --shape=2049x4095 --dtype=i8 --senders=1 --receivers=3 --from=-1 \
  -n 2 -w 1

# One machine's rows: 10,000 MiB from rows to columns, to other GPUs and between the same.
check rows_2_to_2 120 "$perf" reshard --memory=gpu --shape=51200x51200 --senders=2 --receivers=2 --engine=auto,kernel \
  --json="$COLL_ROWS/reshard.jsonl"
both=$((COLL_GPUS < 4 ? COLL_GPUS : 4))
check rows_same 120 "$perf" reshard --memory=gpu --shape=51200x51200 --senders=$both --receivers=$both --same \
  --json="$COLL_ROWS/reshard.jsonl"

if command -v compute-sanitizer >/dev/null; then
  check sanitizer 120 env COLL_TEST_SLOW=1 compute-sanitizer --error-exitcode=1 \
    "$COLL_BUILD/bin/reshard-gpu-tests" --gtest_filter='cuda/*Kernel*'
else
  result sanitizer skipped "compute-sanitizer is not installed"
fi
exit 0
