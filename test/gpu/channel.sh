#!/usr/bin/env bash
# The channel kernel and GPU buffers of backend net: their tests, then times between two
# processes beside NCCL over its own Socket transport, all over loopback TCP.
source "$(dirname "$0")/section.sh"
here=$(dirname "$0")

# Operations between processes, by each path.
processes() {
  local path op
  for path in kernel unpack pack copy; do
    for op in all_reduce all_to_all send_recv; do
      check "processes_${path}_$op" 30 env COLL_NET_GPU_PATH=$path "$COLL_BUILD/bin/coll-perf" $op --ranks=2 \
        --backend=net:gpu -b 4 -e 16M -f 64 -n 2 -w 1 --timeout=20
    done
  done
}

tests() {
  local conformance=$COLL_BUILD/bin/conformance-tests
  # Each test pins a pool of its own, so the pools are small.
  export COLL_NET_BOUNCE_BYTES=$((640 << 20))
  on 2 processes &
  on 1 run_gtest channel_tests 60 "$COLL_BUILD/bin/channel-tests" --gtest_filter='cuda/*' &
  on 1 run_gtest net_gpu_kernel 240 "$conformance" --gtest_filter='net_gpu_kernel/*:gpu/GpuBuffers.*' &
  on 1 run_gtest net_gpu_unpack 120 "$conformance" --gtest_filter='net_gpu_unpack*/*' &
  # Differs from unpack only in how messages are sent.
  on 1 run_gtest net_gpu_pack 60 "$conformance" --gtest_filter='net_gpu_pack_transfers/*:gpu/GpuUnpacking.*' &
  on 1 run_gtest net_gpu_compress 120 "$conformance" --gtest_filter='net_gpu_compress*/*:gpu/GpuCompression.*' &
  on 1 run_gtest net_gpu_copy 120 "$conformance" --gtest_filter='net_gpu_copy*/*' &
  on 1 run_gtest net_gpu_algorithms 120 "$conformance" --gtest_filter='net_gpu_ring/*:net_gpu_halving/*' &
}

measurements() {
  if [ "$COLL_GPUS" -lt 2 ]; then
    result channel_rows skipped "needs 2 GPUs, $COLL_GPUS here"
    return
  fi
  local path blocks measured bench wide program peer machine
  measured=$COLL_REPORT/channel_measured.jsonl
  rm -f "$measured"
  bench=$COLL_BUILD/bin/bench-channel
  local broken=0
  measure() { timeout --kill-after=5 60 "$@" </dev/null | tee -a "$measured" || broken=$((broken + 1)); }
  wide="env COLL_NET_SOCKETS=16 COLL_SPIN_US=1000"
  for path in kernel unpack; do
    measure $wide COLL_NET_GPU_PATH=$path "$bench" --label="path $path, 8 blocks, 16 sockets"
  done
  for blocks in 2 4; do
    measure $wide COLL_NET_GPU_BLOCKS=$blocks "$bench" \
      --label="path kernel, $blocks blocks, 16 sockets" --ops=send,both --sizes=268435456
  done
  measure $wide COLL_NET_GPU_COMPRESS=1 "$bench" --ops=send,both --sizes=268435456 \
    --label="path kernel, whole numbers compressed, 8 blocks, 16 sockets"
  measure $wide COLL_NET_GPU_PATH=copy "$bench" --label="path copy, 16 sockets"
  measure $wide "$bench" --label="host memory, 16 sockets" --host
  measure "$bench" --label="default"
  measure "$bench" --label="kernel alone, 8 blocks" --ops=out,in,unpack --sizes=268435456

  program=$COLL_BUILD/bin/nccl-net-test
  if [ -x "$program" ]; then
    export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_SOCKET_IFNAME=lo NCCL_NET=Socket
    export NCCL_NET_PLUGIN=none NCCL_CUMEM_HOST_ENABLE=0
    peer=("$program" perf --ranks=2 --ops=send,both,all_reduce
      --sizes=65536,1048576,16777216,268435456)
    measure "${peer[@]}" --label="socket default"
    measure env NCCL_NSOCKS_PERTHREAD=4 NCCL_SOCKET_NTHREADS=4 "${peer[@]}" \
      --label="socket tuned, 4 threads x 4 sockets"
  fi
  machine="$COLL_GPUS x $(nvidia-smi --query-gpu=name --format=csv,noheader | head -1), $(nproc) cores, loopback"
  if [ $broken -eq 0 ]; then
    result measured passed
  else
    result measured failed "$broken of the programs ended with an error"
  fi
  check channel_rows 30 python3 "$here/channel_rows.py" "$measured" "$COLL_ROWS/channel.jsonl" "$machine"
}

section "$@"
