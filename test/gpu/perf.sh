#!/usr/bin/env bash
# Measurements on a GPU; each appends its rows to a file of $COLL_ROWS.
source "$(dirname "$0")/section.sh"

check bench-unpack 120 "$COLL_BUILD/bin/bench-unpack" --out="$COLL_ROWS/unpack.jsonl"
check bench-root-update 120 "$COLL_BUILD/bin/bench-root-update" --out="$COLL_ROWS/root_update.jsonl"
if [ "$COLL_GPUS" -lt 2 ]; then
  result bench-peers skipped "needs 2 GPUs, $COLL_GPUS here"
elif [ -x "$COLL_BUILD/bin/bench-peers" ]; then
  NCCL_NVLS_ENABLE=0 CUDA_MODULE_LOADING=EAGER check bench-peers 60 "$COLL_BUILD/bin/bench-peers" \
    --gpus "$COLL_GPUS" --seconds 40 --jsonl "$COLL_ROWS/peers.jsonl"
else
  result bench-peers skipped "libnccl is not installed"
fi
exit 0
