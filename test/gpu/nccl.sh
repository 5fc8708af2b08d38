#!/usr/bin/env bash
# Stock NCCL over libnccl-net-coll.so on a machine with GPUs: exact results, times beside
# NCCL's own Socket transport, and a PyTorch job.
#
#   test/gpu/nccl.sh BUILD OUT smoke|quick|check|perf|torch…
#
# BUILD is a build folder with the plugin (targets nccl-net-coll, nccl-plugin-tests and
# nccl-net-test). Logs go to OUT; perf writes OUT/nccl.jsonl, the rows of test/perf. All data takes
# the loopback interface: P2P and shared memory are turned off. NCCL is the one that
# nvcc finds; COLL_TEST_NCCL names another libnccl.so.2 to run with.
#
# With one argument it is a section of ./dev gpu-test and runs `smoke`, which counts as one case. With
# fewer GPUs than ranks, ranks share one, and nothing is measured.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -eq 1 ]; then
  source "$here/section.sh"
  tests() { on 2 check stock_nccl 240 "$here/nccl.sh" "$COLL_BUILD" "$COLL_REPORT/nccl" smoke; }
  section "$@"
  exit 0
fi
build=$1 out=$2
shift 2
mkdir -p "$out"
plugin=$build/lib/libnccl-net-coll.so
# Without the plugin NCCL would silently use its own transport.
[ -f "$plugin" ] || { echo "$plugin is not there"; exit 1; }
program=$build/bin/nccl-net-test
[ -n "${COLL_TEST_NCCL:-}" ] && export LD_PRELOAD=$COLL_TEST_NCCL

export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_SOCKET_IFNAME=lo NCCL_CUMEM_HOST_ENABLE=0
export COLL_NET_IFACE=lo
gpus=$(nvidia-smi -L | wc -l)

[ -x "$program" ] || { echo "$program is not there"; exit 1; }

host="NCCL_NET_PLUGIN=$plugin NCCL_NET=coll"
unpack="$host COLL_NET_DEVICE_UNPACK=1"
socket="NCCL_NET=Socket NCCL_NET_PLUGIN=none"
# NCCL's own settings, the same for every transport.
channels() {
  echo "NCCL_MIN_NCHANNELS=$1 NCCL_MAX_NCHANNELS=$1 NCCL_MIN_P2P_NCHANNELS=$1" \
    "NCCL_MAX_P2P_NCHANNELS=$1 NCCL_NCHANNELS_PER_NET_PEER=$1"
}
chunk() { echo "NCCL_P2P_NET_CHUNKSIZE=$1 NCCL_BUFFSIZE=$(($1 * 8))"; }

failed=0
# checked LABEL SECONDS ENVIRONMENT ARGUMENT…
checked() {
  local label=$1 seconds=$2 environment=$3
  shift 3
  # shellcheck disable=SC2086 # splits into words
  if ! env $environment NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=NET,INIT \
    NCCL_DEBUG_FILE="$out/debug.%p" timeout "$seconds" "$program" check --label="$label" "$@"; then
    failed=1
    grep -h "WARN" "$out"/debug.* | head -5
  fi
  if ! grep -h -o "NET/coll: pages unpacked: [1-9].*" "$out"/debug.* | sort | uniq | tail -4 | grep . &&
    [[ $environment == *DEVICE_UNPACK=1* ]]; then
    failed=1
    echo "no page was unpacked"
  fi
  rm -f "$out"/debug.*
}
# measured LABEL ENVIRONMENT ARGUMENT…
measured() {
  local label=$1 environment=$2
  shift 2
  # shellcheck disable=SC2086
  env $environment timeout 90 "$program" perf --ranks=2 --label="$label" "$@" |
    tee -a "$out/perf.txt" || failed=1
}

smoke() {
  COLL_TEST_PLUGIN=$plugin "$build/bin/nccl-plugin-tests" --gtest_brief=1 || failed=1
  checked host 60 "$host" --ranks=2 --small=96 --large=1
  checked unpack 90 "$unpack" --ranks=2 --small=96 --large=1
  checked "unpack, 4 ranks on $gpus GPUs" 60 "$unpack" --ranks=4 --small=48 --large=0
  [ "$gpus" -ge 2 ] || return
  measured "socket default" "$socket"
  measured "host default" "$host"
  measured "unpack default" "$unpack"
}

check() {
  checked host 60 "$host" --ranks=2
  checked unpack 90 "$unpack" --ranks=2
  checked "host, NCCL's channels" 30 "$host COLL_NET_NCCL_CHANNELS=0" --ranks=2 --small=100 --large=1
  checked "unpack, NCCL's channels" 30 "$unpack COLL_NET_NCCL_CHANNELS=0" --ranks=2 --small=100 \
    --large=1
  checked "host, 4 ranks on $gpus GPUs" 40 "$host" --ranks=4 --small=200 --large=0
  checked "unpack, 4 ranks on $gpus GPUs" 40 "$unpack" --ranks=4 --small=200 --large=0
}

perf() {
  : >"$out/perf.txt"
  # With default settings.
  measured "socket default" "$socket"
  measured "host default" "$host"
  measured "host with 8 channels per peer" "$host NCCL_NCHANNELS_PER_NET_PEER=8"
  # With the best settings of each: NCCL's channels and chunks, the transport's sockets and threads.
  local many="NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=4" half wide
  half="$(channels 8) $(chunk 524288)"
  wide="$(channels 16) $(chunk 524288)"
  measured "socket tuned, 4x4" "$socket $many"
  measured "socket tuned, 4x4, 8ch 512k" "$socket $many $half"
  measured "socket tuned, 4x4, 16ch 512k" "$socket $many $wide"
  measured "host tuned, NCCL's channels" "$host COLL_NET_NCCL_CHANNELS=0"
  measured "host tuned, 12 threads" "$host COLL_NET_THREADS=12"
  measured "host tuned, 8 channels per peer, 12 threads" \
    "$host NCCL_NCHANNELS_PER_NET_PEER=8 COLL_NET_THREADS=12"
  measured "host tuned, 16 threads" "$host COLL_NET_THREADS=16"
  measured "host tuned, 8ch 512k, 12 threads" "$host $half COLL_NET_THREADS=12"
  measured "host tuned, 16ch 512k" "$host $wide COLL_NET_THREADS=16"
  measured "unpack tuned, 16ch 512k" "$unpack $wide COLL_NET_THREADS=16"
  python3 "$here/nccl_rows.py" "$out/perf.txt" "$out/nccl.jsonl"
}

quick() {
  checked host 20 "$host" --ranks=2 --small=200 --large=2
  checked unpack 20 "$unpack" --ranks=2 --small=200 --large=2
}

torch() {
  local script=$here/nccl_torch.py
  for mode in host unpack; do
    # shellcheck disable=SC2086
    env ${!mode} LD_PRELOAD= timeout 120 python3 -m torch.distributed.run --standalone \
      --nproc-per-node=2 "$script" --label=$mode || failed=1
  done
}

for step in "$@"; do
  $step
done
exit $failed
