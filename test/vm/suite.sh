#!/usr/bin/env bash
# suite.sh BIN OUT: what the virtual machine runs: the transports' common suite over real
# queue pairs, sockets and inside the process, the faults, then what stands on verbs: backend
# net and the plugin for NCCL. Reports go to OUT.
set -uo pipefail
bin=$1 out=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

cp "$here/two_ports.sh" /run/
. /run/two_ports.sh
make_ports || exit 1
# The emulated processors may stand still for a while. With its default of half a second a device
# would take that for a dead peer.
export COLL_NET_IFACE=lo COLL_LOG=error COLL_NET_RDMA_TIMEOUT=18
status=0
"$bin/transport-tests" --gtest_brief=1 --gtest_output="xml:$out/conformance.xml" \
  --gtest_filter='verbs/*:tcp/*:loopback/*-*TotalsBeyondFourGiB*' || status=1
"$bin/vm-tests" --gtest_brief=1 --gtest_output="xml:$out/faults.xml" || status=1
"$bin/vm-backend-tests" --gtest_brief=1 --gtest_output="xml:$out/backend.xml" || status=1
COLL_NET_TRANSPORT=verbs COLL_NET_RDMA_DEVICES=ra "$bin/profiler-host-tests" --gtest_brief=1 \
  --gtest_output="xml:$out/profiler.xml" \
  --gtest_filter='Backends/ProfilerHost.*/net' || status=1
"$bin/vm-plugin-tests" --gtest_brief=1 --gtest_output="xml:$out/rails.xml" || status=1
"$bin/remote-tensor-tests" --gtest_brief=1 --gtest_output="xml:$out/remote_tensor.xml" \
  --gtest_filter='*OverDevices' || status=1
"$bin/reshard-tests" --gtest_brief=1 --gtest_output="xml:$out/reshard.xml" \
  --gtest_filter='*OverDevices' || status=1
"$bin/moe-buffer-tests" --gtest_brief=1 --gtest_output="xml:$out/moe.xml" \
  --gtest_filter='*OverDevices' || status=1
# The versions differ only in their function tables: one runs everything, the others a few cases.
COLL_NET_RDMA_DEVICES=ra "$bin/nccl-plugin-tests" --transport=verbs --gtest_brief=1 \
  --gtest_output="xml:$out/plugin.xml" \
  --gtest_filter='*NcclPluginTest*/v11:*.TagsMatch/*:*.MemoryAndFlush/*:-*Profiler*' || status=1
[ ! -x "$bin/nccl-plugin-unpack-tests" ] || COLL_NET_RDMA_DEVICES=ra COLL_NET_TRANSPORT=verbs \
  "$bin/nccl-plugin-unpack-tests" --gtest_brief=1 --gtest_output="xml:$out/unpack.xml" || status=1
exit $status
